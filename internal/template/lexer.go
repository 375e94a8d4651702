package template

// place is where a placeholder stands in the command.
type place struct {
	where string // why no quoting is right here; "" when one is
}

func places(shell Shell, t Template) []place { return make([]place, len(t.refs)) }

func (p place) word(shell Shell, value string, prev byte) string { return Quote(shell, value) }
