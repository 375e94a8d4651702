package practice

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// request is what a prompt asks of the practice agent.
type request struct {
	write                         string // plain file name, "" for none
	ask, plan, wait, refuse, fail bool
	count                         int
}

var countPattern = regexp.MustCompile(`(?m)^\s*count ([1-9][0-9]{0,5})\s*$`)

var writePattern = regexp.MustCompile(`(?m)^\s*write ([A-Za-z0-9_][A-Za-z0-9_.-]{0,63})\s*$`)

func read(prompt string) request {
	var r request
	if m := writePattern.FindStringSubmatch(prompt); m != nil {
		if r.write = m[1]; r.write == "FILE" {
			r.write = "PRACTICE.md"
		}
	}
	if m := countPattern.FindStringSubmatch(prompt); m != nil {
		r.count, _ = strconv.Atoi(m[1]) // digits only
	}
	for _, line := range strings.Split(prompt, "\n") {
		switch strings.TrimSpace(line) {
		case "ask":
			r.ask = true
		case "plan":
			r.plan = true
		case "wait":
			r.wait = true
		case "refuse":
			r.refuse = true
		case "fail":
			r.fail = true
		}
	}
	return r
}

// answer is the same for the same prompt.
func answer(prompt string) string {
	words := len(strings.Fields(prompt))
	lines := strings.Count(strings.TrimRight(prompt, "\n"), "\n") + 1
	return fmt.Sprintf("I have read your prompt: %s, %s, %s (%s). "+
		"A real agent would now look around and start to work. I only practise, so this is all I do; tell me `write FILE` and I write PRACTICE.md.",
		count(lines, "line"), count(words, "word"), count(utf8.RuneCountInString(prompt), "character"), count(len(prompt), "byte"))
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

const practiceText = "# Practice\n\nThe practice agent wrote this file because a prompt asked for it.\n"

// writeFile makes the file in the directory, and never replaces one.
func writeFile(directory, name string) (said string, err error) {
	file, err := os.OpenFile(filepath.Join(directory, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return name + " is there already; I left it alone.", nil
	}
	if err != nil {
		return "", err
	}
	_, err = file.WriteString(practiceText)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return "I wrote " + name + ".", err
}

// filler is text of exactly n bytes, in lines of 72.
func filler(n int) string {
	var b strings.Builder
	for i := 1; b.Len() < n; i++ {
		b.WriteString(fmt.Sprintf("flood %06d %s\n", i, strings.Repeat("~", 58)))
	}
	return b.String()[:n]
}
