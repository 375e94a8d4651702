package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"davit"
)

// events serves the events to scripts as server-sent events: `after` or Last-Event-ID
// resumes (spec interfaces A1.2).
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	var after *uint64
	for _, text := range []string{r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after")} {
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			after = &n
			break
		}
	}
	events := s.cfg.Feed.Subscribe(after, s.cfg.Host.State)
	defer events.Close()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	flush := http.NewResponseController(w)
	for {
		update, err := events.Next(r.Context())
		if err != nil {
			return
		}
		if update.State != nil {
			err = sendEvent(w, update.Seq, "state", update.State)
		}
		for _, e := range update.Events {
			err = errors.Join(err, sendEvent(w, e.Seq, string(e.Kind), e))
		}
		if errors.Join(err, flush.Flush()) != nil {
			return
		}
	}
}

func sendEvent(w io.Writer, seq uint64, kind string, v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		_, err = fmt.Fprintf(w, "id: %d\nevent: %s\ndata: %s\n\n", seq, kind, data)
	}
	return err
}

// output serves a reader of every byte: the log from an offset, never a snapshot (spec
// terminal P3.2). A gap ends it and is told in the trailers.
func (s *Server) output(w http.ResponseWriter, r *http.Request) {
	p, err := s.cfg.Panes.Get(davit.PaneID(r.PathValue("pane")))
	if err != nil {
		s.problem(w, err)
		return
	}
	var from uint64
	if text := r.URL.Query().Get("from"); text != "" {
		if from, err = strconv.ParseUint(text, 10, 64); err != nil {
			s.problem(w, davit.Errorf(davit.CodeInvalid, "from=%q is not an offset", text))
			return
		}
	}
	follow := r.URL.Query().Get("follow") != "false"
	end := p.View().Offset
	reader, err := p.Output(r.Context(), from)
	if err != nil {
		s.problem(w, err)
		return
	}
	defer reader.Close()
	header := w.Header()
	header.Set("Content-Type", "application/octet-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("Trailer", "Davit-Offset, Davit-Exit, Davit-Error")
	flush := http.NewResponseController(w)
	if !follow && from >= end {
		return
	}
	// The status line goes out with the first byte, so that a gap at the very beginning is
	// a plain error.
	sent := false
	for {
		frame, err := reader.Next()
		if err != nil {
			var e *davit.Error
			switch {
			case errors.As(err, &e) && !sent:
				s.problem(w, err)
			case errors.As(err, &e):
				header.Set("Davit-Error", string(e.Code))
			case !errors.Is(err, io.EOF): // this host goes away, or the reader did
			case p.View().Exit != nil: // it lay before the offset that was asked for
				header.Set("Davit-Exit", strconv.Itoa(p.View().Exit.Code))
			default:
				header.Set("Davit-Error", string(davit.CodePaneLost))
			}
			return
		}
		sent = true
		header.Set("Davit-Offset", strconv.FormatUint(frame.To, 10))
		if frame.Exit != nil {
			header.Set("Davit-Exit", strconv.Itoa(frame.Exit.Code))
			return
		}
		if _, err := w.Write(frame.Data); err != nil {
			return
		}
		if err := flush.Flush(); err != nil || (!follow && frame.To >= end) {
			return
		}
	}
}
