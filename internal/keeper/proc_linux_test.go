package keeper

import "testing"

func FuzzStat(f *testing.F) {
	f.Add([]byte("12 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21"))
	f.Fuzz(func(t *testing.T, b []byte) { parseStat(1, b) })
}
