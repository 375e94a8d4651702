package intent

import (
	_ "embed"
	"slices"
)

//go:embed launch.schema.json
var schema []byte

// Schema is the JSON Schema of an intent and of a result ($defs/Result). What it cannot
// say (the form of an operation id, what depends on two fields) is checked all the same.
func Schema() []byte { return slices.Clone(schema) }
