package chip

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"davit"
)

// SetView gives the view of the vertical tabs after a change in JSON: absent fields keep
// their value, unknown fields and values are refused (spec chips C6).
func SetView(view davit.TabView, change []byte) (davit.TabView, error) {
	if trimmed := bytes.TrimSpace(change); len(trimmed) == 0 || trimmed[0] != '{' {
		return view, davit.Errorf(davit.CodeInvalid, "vertical_tabs is an object").WithHint(`for example {"density": "compact"}`)
	}
	next := view
	decoder := json.NewDecoder(bytes.NewReader(change))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&next); err != nil {
		return view, davit.Errorf(davit.CodeInvalid, "vertical_tabs cannot be read: %w", err).
			WithHint("its fields are granularity, density, title, showPrLink, showDiffStats, detailsOnHover")
	}
	for _, f := range []struct {
		name, value string
		allowed     []string
	}{
		{"granularity", next.Granularity, []string{"panes", "tabs"}},
		{"density", next.Density, []string{"expanded", "compact"}},
		{"title", next.Title, []string{"command", "directory", "branch"}},
	} {
		if !slices.Contains(f.allowed, f.value) {
			return view, davit.Errorf(davit.CodeInvalid, "%s of vertical_tabs is not %q", f.name, f.value).WithHint("it is %s", strings.Join(f.allowed, ", "))
		}
	}
	return next, nil
}
