package tabconfig

import "encoding/json"

// Schema is the JSON Schema of the file, from the shapes that Load checks
// against (spec tabs T1.4). What a schema cannot say (the tree, placeholders)
// is left to Load.
func Schema() []byte {
	s := schemaOf(fileShape())
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "davit tab config"
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic("tabconfig: the schema cannot be written: " + err.Error())
	}
	return append(text, '\n')
}

func schemaOf(s shape) map[string]any {
	out := map[string]any{}
	if s.doc != "" {
		out["description"] = s.doc
	}
	switch s.kind {
	case "":
		out["type"] = []string{"string", "boolean"}
	case nodeString:
		out["type"] = "string"
		if s.enum != nil {
			out["enum"] = s.enum
		}
	case nodeBool:
		out["type"] = "boolean"
	case nodeNumber:
		out["type"] = "number"
		out["exclusiveMinimum"] = 0
	case nodeArray:
		out["type"] = "array"
		out["items"] = schemaOf(*s.items)
	case nodeTable:
		out["type"] = "object"
		if s.values != nil {
			out["additionalProperties"] = schemaOf(*s.values)
			break
		}
		properties, required := map[string]any{}, []string{}
		for _, k := range s.keys {
			properties[k.name] = schemaOf(k.shape)
			if k.required {
				required = append(required, k.name)
			}
		}
		out["properties"], out["additionalProperties"] = properties, false
		if len(required) > 0 {
			out["required"] = required
		}
	}
	return out
}
