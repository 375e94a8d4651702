package configs

import "davit/internal/wire"

// Skills answers skill.list.
func (s *Service) Skills() []wire.Skill { return nil }
