//go:build race

package store

func init() { longJournal = 10_000 } // SQLite in Go is slow under the race detector
