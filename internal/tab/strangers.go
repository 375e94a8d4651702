package tab

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"davit"
	"davit/internal/keeper"
)

// NoticeStrangers tells of programs in the keeper that no stored pane is about.
const NoticeStrangers = "strangers"

// tellStrangers tells of terminals that the keeper holds and the store does not know: after
// a damaged store was set aside, those that are younger than its last good copy. They run
// on, and nothing is ended unasked (spec tabs T6.2). Chats are their sessions' to tell.
func (s *Service) tellStrangers(ctx context.Context) {
	c, linked := s.cfg.Panes.Linked()
	if !linked {
		return
	}
	infos, err := c.List(ctx)
	if err != nil {
		s.cfg.Log.Warn("what the keeper holds could not be listed", "err", err)
		return
	}
	known := s.cfg.Host.Model().Rows.Panes
	infos = slices.DeleteFunc(infos, func(i keeper.PaneInfo) bool {
		_, stored := known[davit.PaneID(i.Pane)]
		return stored || i.Exit != nil || i.Pipes || i.Kind == keeper.PaneChat || i.Kind == keeper.PaneCleanup
	})
	if len(infos) == 0 {
		s.forgetStrangers(ctx)
		return
	}
	var list []keeper.Process
	var lines []string
	for _, info := range infos {
		p := keeper.Process{Pid: info.Pid, StartTime: info.StartTime, Name: info.Kind}
		line := fmt.Sprintf("%s, pid %d, since %s", info.Kind, info.Pid, info.Started.Local().Format(time.DateTime))
		if fg, err := c.Foreground(ctx, info.Pane); err == nil && fg.Pid != 0 {
			p.Name = fg.Name
			line = fmt.Sprintf("%s, pid %d, in %s, since %s", strings.Join(fg.Argv, " "), fg.Pid, fg.Dir, info.Started.Local().Format(time.DateTime))
		}
		list, lines = append(list, p), append(lines, line)
	}
	_, which := listed(list)
	s.notify(ctx, davit.Notice{
		ID: strangersNotice, Kind: NoticeStrangers, Level: "warning", Persistent: true,
		Title: plural(len(list), "program runs in no tab", "programs run in no tab"),
		Body:  strings.Join(lines, "\n") + "\nWhat was stored of their tabs is lost. They go on until they end by themselves, or you end them.",
		Actions: []davit.NoticeAction{
			{ID: "end_processes", Label: "End", Kind: "host", Text: which}, {ID: "dismiss", Label: "Dismiss", Kind: "host"},
		},
	})
}

const strangersNotice = "strangers"

// forgetStrangers takes the notice away when none of them is left.
func (s *Service) forgetStrangers(ctx context.Context) {
	for _, n := range s.cfg.Host.State().Notices {
		if n.ID == strangersNotice {
			s.dismiss(ctx, n.ID)
		}
	}
}
