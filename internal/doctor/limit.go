package doctor

import "golang.org/x/sys/unix"

// fileLimit is the soft limit of open descriptors, 0 when it is not known.
func fileLimit() uint64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return limit.Cur
}
