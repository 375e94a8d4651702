package keeper

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"davit"
)

// SocketName is the socket's name in its directory.
const SocketName = "keeper.sock"

// maxSocketPath is P1.6's bound; the kernel's own is 108 on Linux and 104 on macOS.
const maxSocketPath = 100

// SocketPath says where the keeper of a home listens, and makes that directory: the
// runtime directory, or one below temp where there is none or the path would be too
// long (P1.6).
func SocketPath(runtimeDir, temp, home string) (string, error) {
	if runtimeDir != "" {
		path := filepath.Join(runtimeDir, SocketName)
		if len(path) <= maxSocketPath {
			return path, os.MkdirAll(runtimeDir, 0o700)
		}
	}
	sum := sha256.Sum256([]byte(home))
	own := places(temp)
	dir := filepath.Join(own, hex.EncodeToString(sum[:8]))
	for _, d := range []string{own, dir} {
		if err := privateDir(d); err != nil {
			return "", err
		}
	}
	path := filepath.Join(dir, SocketName)
	if len(path) > maxSocketPath {
		return "", davit.Errorf(davit.CodeHomeUnusable, "the socket's path %s is over %d bytes", path, maxSocketPath).
			WithHint("Set TMPDIR to a shorter directory.")
	}
	return path, nil
}

// privateDir makes a directory in a place that others can write to, and checks that it
// is ours alone.
func privateDir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return davit.Errorf(davit.CodeHomeUnusable, "make the socket's directory: %w", err)
	}
	return ours(dir)
}

// ours checks that a directory is this user's alone, and no link.
func ours(dir string) error {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return davit.Errorf(davit.CodeHomeUnusable, "look at %s: %w", dir, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Getuid() || st.Mode&0o077 != 0 {
		return davit.Errorf(davit.CodeKeeperForeign, "%s is not a directory of this user alone", dir).
			WithHint("Move it away, or set XDG_RUNTIME_DIR.")
	}
	return nil
}

// bind makes the socket where this home's is to be.
func (k *Keeper) bind(ctx context.Context) (*socket, error) {
	path, err := SocketPath(k.cfg.RuntimeDir, k.cfg.TempDir, k.cfg.Home)
	if err != nil {
		return nil, err
	}
	s, err := bindSocket(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := k.noteHome(path); err != nil { // only means that it will not be swept
		k.cfg.Log.Warn("note whose the socket's directory is", "err", err)
	}
	return s, nil
}

// lookForSocket makes the socket again when it has vanished (P1.6).
func (k *Keeper) lookForSocket(ctx context.Context) {
	if k.socket.inPlace() {
		return
	}
	fresh, err := k.bind(ctx)
	if err == nil {
		k.socket.listener.Close()
		k.socket = fresh
		k.accept(ctx, fresh.listener)
		err = k.writeRecord(fresh.path)
	}
	if err != nil {
		k.cfg.Log.Warn("the socket is gone and cannot be made again", "err", err)
		return
	}
	k.cfg.Log.Info("the socket was gone and has been made again", "socket", fresh.path)
}

// socket is a bound name that the keeper looks after.
type socket struct {
	path     string
	listener *net.UnixListener
	dev, ino uint64
}

// bindSocket listens at path. A dead socket in the way is replaced, a living one is left
// alone; nothing is ever unlinked but the private name that was made here (P1.6).
func bindSocket(ctx context.Context, path string) (*socket, error) {
	var l *net.UnixListener
	var private string
	for try := range 16 { // names that others left are not touched
		private = filepath.Join(filepath.Dir(path), fmt.Sprintf("k%x.%x", try, os.Getpid()))
		var err error
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: private, Net: "unix"})
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EADDRINUSE) {
			return nil, davit.Errorf(davit.CodeHomeUnusable, "listen in %s: %w", filepath.Dir(path), err)
		}
	}
	if l == nil {
		return nil, davit.Errorf(davit.CodeHomeUnusable, "listen in %s: every name is taken", filepath.Dir(path))
	}
	l.SetUnlinkOnClose(false)
	s := &socket{path: path, listener: l}
	if err := s.place(ctx, private); err != nil {
		l.Close()
		os.Remove(private)
		return nil, err
	}
	return s, nil
}

// place gives the private socket its public name.
func (s *socket) place(ctx context.Context, private string) error {
	if err := os.Chmod(private, 0o600); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Lstat(private, &st); err != nil {
		return err
	}
	s.dev, s.ino = uint64(st.Dev), st.Ino
	err := os.Link(private, s.path)
	if err == nil {
		return os.Remove(private)
	}
	if proved := provedDead(ctx, s.path); proved != nil {
		return proved
	}
	return os.Rename(private, s.path)
}

// provedDead connects: refused or absent means dead; a time-out proves nothing.
func provedDead(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err == nil {
		conn.Close()
		err = errors.New("something listens there")
	}
	if errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, os.ErrNotExist) {
		var st unix.Stat_t
		if unix.Lstat(path, &st) != nil || st.Mode&unix.S_IFMT == unix.S_IFSOCK {
			return nil
		}
		err = errors.New("it is not a socket")
	}
	return davit.Errorf(davit.CodeSocketTaken, "the keeper's place %s is taken: %w", path, err).
		WithHint("Move it away, or choose another DAVIT_HOME.")
}

// inPlace says whether the name still leads to this socket.
func (s *socket) inPlace() bool {
	var st unix.Stat_t
	return unix.Lstat(s.path, &st) == nil && uint64(st.Dev) == s.dev && st.Ino == s.ino
}

// CheckPeer refuses a peer of another user.
func CheckPeer(conn *net.UnixConn) error {
	uid, _, err := peer(conn)
	if err != nil {
		return fmt.Errorf("ask who the peer is: %w", err)
	}
	if uid != os.Getuid() {
		return fmt.Errorf("it belongs to user %d", uid)
	}
	return nil
}

// peer gives the user and process at the other end.
func peer(conn *net.UnixConn) (uid, pid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	ctlErr := raw.Control(func(fd uintptr) { uid, pid, err = peerOf(int(fd)) })
	return uid, pid, errors.Join(ctlErr, err)
}
