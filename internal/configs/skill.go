package configs

import (
	_ "embed"
	"strings"

	"davit/internal/wire"
)

//go:embed skills/tab-configs.md
var tabConfigsSkill string

// Skills are the texts that tell an agent how to work with davit (spec interfaces A3.1).
// Each begins as a skill file does, with its name and what it is for.
func Skills() []wire.Skill {
	var list []wire.Skill
	for _, text := range []string{tabConfigsSkill} {
		list = append(list, wire.Skill{Name: frontMatter(text, "name"), Description: frontMatter(text, "description"), Text: text})
	}
	return list
}

// Skills answers skill.list.
func (s *Service) Skills() []wire.Skill { return Skills() }

func frontMatter(text, key string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, key+": "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
