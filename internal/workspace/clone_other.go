//go:build !linux

package workspace

import (
	"errors"
	"os"
)

// clone is by open files, which only Linux has.
func clone(_, _ *os.File) error { return errors.ErrUnsupported }
