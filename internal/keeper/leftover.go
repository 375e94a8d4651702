package keeper

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// homeNote lies beside a socket below the temporary directory and names the state directory
// that it is of: the directory's own name is a hash.
const homeNote = "home"

var placeName = regexp.MustCompile(`^[0-9a-f]{16}$`)

// places is where the sockets of one user's homes are that have no runtime directory.
func places(temp string) string { return filepath.Join(temp, "davit-"+strconv.Itoa(os.Getuid())) }

// noteHome says whose a socket's directory is, when it is such a place.
func (k *Keeper) noteHome(socket string) error {
	dir := filepath.Dir(socket)
	if filepath.Dir(dir) != places(k.cfg.TempDir) {
		return nil
	}
	return os.WriteFile(filepath.Join(dir, homeNote), []byte(k.cfg.StateDir+"\n"), 0o600)
}

// sweepPlaces removes what homes that are gone left below the temporary directory: where a
// note names a state directory that is not there any more, so that nobody can hold its lock,
// every socket is proved dead by connecting, and nothing else lies there (P1.6). Everything
// else stays, a place without a note too.
func (k *Keeper) sweepPlaces(ctx context.Context, own string) {
	top := places(k.cfg.TempDir)
	if ours(top) != nil {
		return
	}
	entries, err := os.ReadDir(top)
	if err != nil {
		return
	}
	for _, e := range entries {
		dir := filepath.Join(top, e.Name())
		if !placeName.MatchString(e.Name()) || dir == own || ours(dir) != nil || !homeGone(dir) {
			continue
		}
		if err := sweepPlace(ctx, dir); err != nil {
			k.cfg.Log.Info("what a home that is gone left stays", "dir", dir, "err", err)
		} else {
			k.cfg.Log.Info("removed what a home that is gone left", "dir", dir)
		}
	}
}

// homeGone says whether the state directory that a place's note names is not there.
func homeGone(place string) bool {
	b, err := os.ReadFile(filepath.Join(place, homeNote))
	state := strings.TrimSuffix(string(b), "\n")
	if err != nil || !filepath.IsAbs(state) {
		return false
	}
	_, err = os.Lstat(state)
	return errors.Is(err, fs.ErrNotExist)
}

func sweepPlace(ctx context.Context, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var sockets []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.Name() == homeNote && e.Type().IsRegular():
		case e.Type() == fs.ModeSocket:
			if err := provedDead(ctx, path); err != nil {
				return err
			}
			sockets = append(sockets, path)
		default:
			return errors.New(path + " is nothing that a keeper makes")
		}
	}
	if !homeGone(dir) { // it has come back meanwhile
		return errors.New("the home is there again")
	}
	for _, path := range append(sockets, filepath.Join(dir, homeNote)) {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return unix.Rmdir(dir)
}
