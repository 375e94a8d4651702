package screen

// Cell is one column of a row as a reader sees it.
type Cell struct {
	// Text is the character or grapheme cluster, "" for a column that was
	// never written or that is the second half of a wide character.
	Text string
	// Width is 1 or 2, and 0 for the second half of a wide character.
	Width int
	Style Style
}

// Line is one row with its styles.
type Line struct {
	Cells []Cell
	// Wrapped tells that the line continues the one before it.
	Wrapped bool
}
