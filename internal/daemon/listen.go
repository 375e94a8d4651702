package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"davit"
	"davit/internal/keeper"

	"golang.org/x/sys/unix"
)

// lock takes the lock of a host; it is held for as long as the process lives.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, davit.Errorf(davit.CodeHomeUnusable, "open the host's lock: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, davit.Errorf(davit.CodeHostRunning, "another davit host runs for this home").WithHint("`davit status` shows it")
		}
		return nil, davit.Errorf(davit.CodeHomeUnusable, "lock %s: %w", path, err)
	}
	return func() { _ = f.Close() }, nil
}

// listen opens the Unix socket and the browser's address.
func (d *daemon) listen() error {
	socket, err := d.cfg.Home.Socket()
	if err != nil {
		return err
	}
	if d.local, err = listenUnix(socket); err != nil {
		return err
	}
	d.socket = socket
	if d.tcp, err = listenTCP(d.cfg.Listen); err != nil {
		d.local.Close()
		return err
	}
	d.url = "http://127.0.0.1:" + portOf(d.tcp.Addr())
	return nil
}

// listenUnix binds the host's socket, mode 0600, checked for its peers. A socket file
// that is there is proved dead by connecting: refused. One that answers, or is not a
// socket, is somebody else's and is left alone (spec terminal P1.6).
func listenUnix(path string) (net.Listener, error) {
	taken := func(why string) error {
		return davit.Errorf(davit.CodeSocketTaken, "%s %s", path, why).WithHint("move it away, or choose another DAVIT_HOME")
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, davit.Errorf(davit.CodeHomeUnusable, "look at the socket: %w", err)
	case info.Mode()&fs.ModeSocket == 0:
		return nil, taken("is there, and is not a socket")
	default:
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
			return nil, taken(fmt.Sprintf("belongs to user %d", stat.Uid))
		}
		conn, err := net.DialTimeout("unix", path, 2*time.Second)
		if err == nil {
			conn.Close()
			return nil, taken("is answered by another program")
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return nil, taken("cannot be proved dead: " + err.Error())
		}
	}
	private := path + "." + strconv.Itoa(os.Getpid())
	_ = os.Remove(private) // ours by its name: what a former process of this pid left
	addr := &net.UnixAddr{Name: private, Net: "unix"}
	old := unix.Umask(0o177)
	listener, err := net.ListenUnix("unix", addr)
	unix.Umask(old)
	if err != nil {
		return nil, davit.Errorf(davit.CodeHomeUnusable, "listen on %s: %w", path, err)
	}
	listener.SetUnlinkOnClose(false)
	if err := os.Rename(private, path); err != nil {
		listener.Close()
		return nil, davit.Errorf(davit.CodeHomeUnusable, "put the socket into its place: %w", err)
	}
	return &peerListener{listener}, nil
}

// peerListener takes connections of the same user only (spec interfaces A2.1).
type peerListener struct{ *net.UnixListener }

func (l *peerListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if keeper.CheckPeer(conn) == nil {
			return conn, nil
		}
		conn.Close()
	}
}

// listenTCP opens the browser's address: the one asked for, else the default port, else a
// free one (spec interfaces A3.3).
func listenTCP(listen string) (net.Listener, error) {
	if listen == "" {
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(DefaultPort))); err == nil {
			return l, nil
		}
		listen = "127.0.0.1:0"
	}
	name, _, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, davit.Errorf(davit.CodeUsage, "--listen %q is not host:port: %w", listen, err)
	}
	if ip := net.ParseIP(name); name != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, davit.Errorf(davit.CodeUsage, "--listen %q is wider than this machine", listen).
			WithHint("davit listens on 127.0.0.1 only; reach it from elsewhere through ssh -L")
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, davit.Errorf(davit.CodeSocketTaken, "the page's address cannot be used: %w", err).WithHint("choose another with --listen 127.0.0.1:PORT")
	}
	return l, nil
}
