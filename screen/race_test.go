//go:build race

package screen

const raceDetector = true
