package wire

import (
	"encoding/base64"
	"encoding/json"
)

// CallerHeader tells where a CLI call comes from. It is believed over the Unix socket
// only.
const CallerHeader = "Davit-Caller"

// CapabilitiesHeader carries what a caller can do, as words with commas between (spec
// launch L1.2).
const CapabilitiesHeader = "Davit-Capabilities"

// Caller is what the header says: the caller's directory, which relative selectors mean
// (spec launch L4), and the variables of its login session that new panes get (spec
// terminal P3.7).
type Caller struct {
	Dir string            `json:"dir,omitempty"`
	Env map[string]string `json:"env,omitempty"`
}

// Encode gives the header's value.
func (c Caller) Encode() string {
	data, _ := json.Marshal(c) // strings only: it cannot fail
	return base64.StdEncoding.EncodeToString(data)
}

// ParseCaller reads a header's value; a missing or broken one is an empty Caller.
func ParseCaller(value string) Caller {
	var c Caller
	if data, err := base64.StdEncoding.DecodeString(value); err == nil {
		_ = json.Unmarshal(data, &c)
	}
	return c
}
