package chip

import "strings"

// customPrefix begins the kind of a chip of the user's own: custom:<name>.
const customPrefix = "custom:"

// IsCustom says that a kind is the user's own.
func IsCustom(kind Kind) bool { return strings.HasPrefix(string(kind), customPrefix) }

// CustomKind is the kind of the user's chip of a name.
func CustomKind(name string) Kind { return Kind(customPrefix + name) }

// CustomChip is a chip of the user's own, from config.toml: its policy and its program.
type CustomChip struct {
	Policy Policy
	Source Source
}
