package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"davit"
	"davit/internal/keeper"

	"golang.org/x/sys/unix"
)

// A host that was killed holds its lock until the system has taken it down, and one that
// stops until it has ended: that long a new one waits before it says that another runs.
const (
	lockWait = 5 * time.Second
	lockPoll = 10 * time.Millisecond
)

// lock takes the lock of a host; it is held for as long as the process lives.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, davit.Errorf(davit.CodeHomeUnusable, "open the host's lock: %w", err)
	}
	for until := time.Now().Add(lockWait); ; {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Now().After(until) {
			break
		}
		select {
		case <-time.After(lockPoll):
		case <-ctx.Done():
			f.Close()
			return nil, context.Cause(ctx)
		}
	}
	if err != nil {
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
	if d.tcp, err = listenTCP(d.cfg.Listen, d.lastPort()); err != nil {
		d.local.Close()
		return err
	}
	d.rememberPort()
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

// portSetting is the row that keeps the page's port.
const portSetting = "host.port"

// lastPort is where this home's page was, 0 when it is not known. A page that is open goes
// on only there: its address, and the key of its login, are bound to the port.
func (d *daemon) lastPort() int {
	var port int
	value, found, err := d.store.Setting(context.Background(), portSetting)
	if err != nil || !found || json.Unmarshal(value, &port) != nil || port <= 0 || port > 65535 {
		return 0
	}
	return port
}

func (d *daemon) rememberPort() {
	port := d.tcp.Addr().(*net.TCPAddr).Port
	if port == d.lastPort() {
		return
	}
	if err := d.store.SetSetting(context.Background(), portSetting, json.RawMessage(strconv.Itoa(port))); err != nil {
		d.log.Warn("the page's port was not kept: after a restart it may have another one", "err", err)
	}
}

// listenTCP opens the browser's address: the one asked for; else, or with port 0, the one
// that this home had last, the default port, or a free one (spec interfaces A3.3).
func listenTCP(listen string, last int) (net.Listener, error) {
	if _, port, err := net.SplitHostPort(listen); listen == "" || err == nil && port == "0" && strings.HasPrefix(listen, "127.0.0.1:") {
		try := []int{last, DefaultPort}
		if listen != "" {
			try = []int{last}
		}
		for _, port := range try {
			if port == 0 {
				continue
			}
			if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
				return l, nil
			}
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
