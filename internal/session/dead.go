package session

import (
	"davit/internal/keeper"
)

// foldDead folds what a keeper that is gone had logged and nobody had read (S1.1), and says
// whether the end of the process was in it.
func (c *chat) foldDead(p *process) (ended bool) {
	if c.s.cfg.StateDir == "" {
		return false
	}
	p.stopped = true // no message is sent any more
	p.pending = nil
	log, err := keeper.OpenDead(c.s.cfg.StateDir, p.keeper, "", p.lines.Read())
	if err != nil {
		c.log.Info("the log of a chat's process is not there any more", "keeper", p.keeper, "err", err)
		return false
	}
	defer log.Close()
	if log.Range.Start > p.lines.Read() {
		return false // there is a hole before it
	}
	for c.proc == p && c.ctx.Err() == nil {
		f, err := log.Next()
		if err != nil {
			break
		}
		switch f.Kind {
		case keeper.Bytes:
			p.pending = append(p.pending, f.Data...)
			if len(p.pending) >= foldBytes {
				c.foldAll(p)
			}
		case keeper.Exit:
			p.exit = f.Exit
		}
	}
	c.foldAll(p)
	c.stderrDead(p)
	return p.exit != nil
}

// stderrDead reads the last of stderr.
func (c *chat) stderrDead(p *process) {
	log, err := keeper.OpenDead(c.s.cfg.StateDir, p.keeper, keeper.Stderr, p.stderr.end)
	if err != nil {
		return // there was none, or it is gone: the end is told without
	}
	defer log.Close()
	for {
		f, err := log.Next()
		if err != nil {
			return
		}
		if f.Kind == keeper.Bytes {
			p.stderr.add(f.Data, f.To)
		}
	}
}
