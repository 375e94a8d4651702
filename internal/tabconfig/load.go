package tabconfig

// span is a place in the source, in bytes.
type span struct{ from, to int }

// Load reads a file's text. The faults are sorted by place; when one of them is
// an error there is no Config. path is only for messages and Config.Path.
func Load(path string, src []byte, env LoadEnv) (*Config, []Fault) { return nil, nil }

// Schema is the JSON Schema of the file (spec tabs T1.4).
func Schema() []byte { return nil }

// NewTemplate is the text of a new config file (spec tabs T6.4).
func NewTemplate(name string) string { return "" }
