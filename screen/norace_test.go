//go:build !race

package screen

const raceDetector = false
