package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"davit"
)

// Commit stores the batch, all of it or nothing, and returns when it is on disk.
func (s *Store) Commit(ctx context.Context, b Batch) error {
	// Encoding is done before the writer's turn comes: it is not the writer's work, and a
	// value that cannot be encoded must not open a transaction.
	changes, err := b.encode()
	if err != nil {
		return fmt.Errorf("store the layout: %w", err)
	}
	return s.write(ctx, "store the layout", func(t *tx) error {
		for _, c := range changes {
			if err := c(t); err != nil {
				return err
			}
		}
		return nil
	})
}

// SetPaneOffsets notes how far a pane's checkpoint and its effects are. Neither goes
// back; a pane that is not stored is no error, for it may just have been deleted.
func (s *Store) SetPaneOffsets(ctx context.Context, pane davit.PaneID, checkpoint, effectsThrough uint64) error {
	return s.write(ctx, "store a pane's offsets", func(t *tx) error {
		return t.exec(`UPDATE panes SET checkpoint = max(checkpoint, ?), effects_through = max(effects_through, ?) WHERE id = ?`,
			int64(checkpoint), int64(effectsThrough), string(pane))
	})
}

// statement makes the change that runs one statement.
func statement(query string, args ...any) change {
	return func(t *tx) error { return t.exec(query, args...) }
}

func (b Batch) encode() ([]change, error) {
	var changes []change
	for _, part := range []func() ([]change, error){b.encodeTabs, b.encodeGroups, b.encodePanes, b.encodeRest, b.encodeActs} {
		c, err := part()
		if err != nil {
			return nil, err
		}
		changes = append(changes, c...)
	}
	return changes, nil
}

func (b Batch) encodeTabs() (changes []change, err error) {
	for _, id := range b.DeleteTabs {
		changes = append(changes, statement(`DELETE FROM tabs WHERE id = ?`, string(id)))
	}
	for _, row := range b.PutTabs {
		body, err := json.Marshal(row.Tab)
		if err != nil {
			return nil, fmt.Errorf("tab %s: %w", row.Tab.ID, err)
		}
		var closing sql.NullString
		if row.Closed != nil {
			text, err := json.Marshal(row.Closed)
			if err != nil {
				return nil, fmt.Errorf("tab %s: %w", row.Tab.ID, err)
			}
			closing = sql.NullString{String: string(text), Valid: true}
		}
		changes = append(changes, statement(`INSERT INTO tabs (id, position, closing, body) VALUES (?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET position = excluded.position, closing = excluded.closing, body = excluded.body`,
			string(row.Tab.ID), row.Position, closing, string(body)))
	}
	for i, id := range b.Order {
		changes = append(changes, statement(`UPDATE tabs SET position = ? WHERE id = ?`, i, string(id)))
	}
	return changes, nil
}

func (b Batch) encodeGroups() (changes []change, err error) {
	for _, id := range b.DeleteGroups {
		changes = append(changes, statement(`DELETE FROM groups WHERE id = ?`, string(id)))
	}
	for _, group := range b.PutGroups {
		body, err := json.Marshal(group)
		if err != nil {
			return nil, fmt.Errorf("group %s: %w", group.ID, err)
		}
		changes = append(changes, statement(`INSERT INTO groups (id, body) VALUES (?, ?)
			ON CONFLICT (id) DO UPDATE SET body = excluded.body`, string(group.ID), string(body)))
	}
	for _, id := range b.DeleteOpenings {
		changes = append(changes, statement(`DELETE FROM openings WHERE id = ?`, id))
	}
	for _, row := range b.PutOpenings {
		changes = append(changes, statement(`INSERT INTO openings (id, config, worktree, created) VALUES (?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET config = excluded.config, worktree = excluded.worktree, created = excluded.created`,
			row.ID, row.Config, row.Worktree, row.Created.UnixMilli()))
	}
	return changes, nil
}

func (b Batch) encodePanes() (changes []change, err error) {
	for _, id := range b.DeletePanes {
		changes = append(changes,
			statement(`DELETE FROM panes WHERE id = ?`, string(id)),
			statement(`DELETE FROM acts WHERE pane = ? AND session = ''`, string(id)))
	}
	for _, row := range b.PutPanes {
		body, err := json.Marshal(row.Pane)
		if err != nil {
			return nil, fmt.Errorf("pane %s: %w", row.Pane.ID, err)
		}
		spec, err := json.Marshal(row.Spec)
		if err != nil {
			return nil, fmt.Errorf("pane %s: %w", row.Pane.ID, err)
		}
		var closing sql.NullString
		if row.Closed != nil {
			text, err := json.Marshal(row.Closed)
			if err != nil {
				return nil, fmt.Errorf("pane %s: %w", row.Pane.ID, err)
			}
			closing = sql.NullString{String: string(text), Valid: true}
		}
		offsets := `max(panes.checkpoint, excluded.checkpoint), effects_through = max(panes.effects_through, excluded.effects_through)`
		if row.NewLog {
			offsets = `excluded.checkpoint, effects_through = excluded.effects_through`
		}
		changes = append(changes, statement(`INSERT INTO panes (id, tab, body, spec, checkpoint, effects_through, keeper_boot, closing)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET tab = excluded.tab, body = excluded.body, spec = excluded.spec,
			keeper_boot = excluded.keeper_boot, closing = excluded.closing, checkpoint = `+offsets,
			string(row.Pane.ID), string(row.Pane.Tab), string(body), string(spec),
			int64(row.Checkpoint), int64(row.EffectsThrough), row.KeeperBoot, closing))
	}
	return changes, nil
}

func (b Batch) encodeRest() (changes []change, err error) {
	for _, id := range b.DeleteNotices {
		changes = append(changes, statement(`DELETE FROM notices WHERE id = ?`, id))
	}
	for _, notice := range b.PutNotices {
		body, err := json.Marshal(notice)
		if err != nil {
			return nil, fmt.Errorf("notice %s: %w", notice.ID, err)
		}
		changes = append(changes, statement(`INSERT INTO notices (id, created, body) VALUES (?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET created = excluded.created, body = excluded.body`,
			notice.ID, notice.Created.UnixMilli(), string(body)))
	}
	for _, id := range b.DeleteCleanups {
		changes = append(changes, statement(`DELETE FROM cleanups WHERE id = ?`, id))
	}
	for _, row := range b.PutCleanups {
		plan, err := json.Marshal(row.Plan)
		if err != nil {
			return nil, fmt.Errorf("cleanup %s: %w", row.ID, err)
		}
		changes = append(changes, statement(`INSERT INTO cleanups (id, tab, title, repo, worktree, plan, state, steps, pane, created, changed)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET tab = excluded.tab, title = excluded.title, repo = excluded.repo,
			worktree = excluded.worktree, plan = excluded.plan, state = excluded.state, steps = excluded.steps,
			pane = excluded.pane, created = excluded.created, changed = excluded.changed`,
			row.ID, string(row.Tab), row.TabTitle, row.Repo, row.Worktree, string(plan), string(row.State),
			string(row.Steps), row.Pane, row.Created.UnixMilli(), row.Changed.UnixMilli()))
	}
	for _, id := range b.DeleteWorktrees {
		changes = append(changes, statement(`DELETE FROM worktrees WHERE id = ?`, id))
	}
	for _, row := range b.PutWorktrees {
		body, err := json.Marshal(row.Worktree)
		if err != nil {
			return nil, fmt.Errorf("worktree %s: %w", row.ID, err)
		}
		changes = append(changes, statement(`INSERT INTO worktrees (id, path, repo, instance, operation, body, created)
			VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET path = excluded.path, repo = excluded.repo, instance = excluded.instance,
			operation = excluded.operation, body = excluded.body, created = excluded.created`,
			row.ID, row.Worktree.Path, row.Worktree.Repo, row.Instance, row.Operation, string(body), row.Created.UnixMilli()))
	}
	return changes, nil
}

func (b Batch) encodeActs() (changes []change, err error) {
	return encodeActs("", b.PutActs, b.DoneActs), nil
}

// encodeActs: an act is immutable. Putting the same one twice is harmless, another body
// under the same id is a fault of ours that must not reach the keeper. The acts of a chat
// carry its session; those of a tab's panes carry none.
func encodeActs(session davit.SessionID, put []ActRow, done []string) (changes []change) {
	for _, row := range put {
		body := row.Body
		if body == nil {
			body = []byte{}
		}
		changes = append(changes, func(t *tx) error {
			n, err := t.affect(`INSERT INTO acts (id, session, pane, kind, body, created) VALUES (?, ?, ?, ?, ?, ?)
				ON CONFLICT (id) DO UPDATE SET created = acts.created
				WHERE acts.session = excluded.session AND acts.pane = excluded.pane AND acts.kind = excluded.kind AND acts.body = excluded.body`,
				row.ID, string(session), string(row.Pane), row.Kind, body, row.Created.UnixMilli())
			if err == nil && n == 0 {
				return davit.Errorf(davit.CodeInternal, "act %s is stored with another body", row.ID)
			}
			return err
		})
	}
	for _, id := range done {
		changes = append(changes, statement(`DELETE FROM acts WHERE id = ?`, id))
	}
	return changes
}

// Load reads everything in one snapshot. What belongs to chats is not in it (Chats).
func (s *Store) Load(ctx context.Context) (Everything, error) {
	var e Everything
	t, err := s.readDB.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return e, told("load the store", err)
	}
	defer func() { _ = t.Rollback() }()
	for _, load := range []func(context.Context, *sql.Tx) error{
		e.loadTabs, e.loadGroups, e.loadOpenings, e.loadPanes, e.loadNotices, e.loadCleanups, e.loadWorktrees, e.loadActs,
	} {
		if err := load(ctx, t); err != nil {
			return Everything{}, told("load the store", err)
		}
	}
	return e, nil
}

// each calls visit for every row of a query.
func each(ctx context.Context, t *sql.Tx, query string, visit func(scan func(...any) error) error) error {
	rows, err := t.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := visit(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// decode reads a body and holds it against the key of its row.
func decode[T any](text string, id func(T) string, key string) (T, error) {
	var value T
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return value, err
	}
	if got := id(value); got != key {
		return value, fmt.Errorf("the row of %q holds %q", key, got)
	}
	return value, nil
}

func (e *Everything) fault(table, id string, err error) {
	e.Faults = append(e.Faults, RowFault{Table: table, ID: id, Err: err})
}

func (e *Everything) loadTabs(ctx context.Context, t *sql.Tx) error {
	return each(ctx, t, `SELECT id, position, closing, body FROM tabs ORDER BY position, id`, func(scan func(...any) error) error {
		var (
			row      TabRow
			id, body string
			closing  sql.NullString
		)
		if err := scan(&id, &row.Position, &closing, &body); err != nil {
			return err
		}
		tab, err := decode(body, func(t davit.Tab) string { return string(t.ID) }, id)
		if err == nil && closing.Valid {
			row.Closed = new(Closing)
			err = json.Unmarshal([]byte(closing.String), row.Closed)
		}
		if err != nil {
			e.Faults = append(e.Faults, RowFault{Table: "tabs", ID: id, Tab: davit.TabID(id), Position: row.Position, Closed: closing.Valid, Err: err})
			return nil
		}
		row.Tab = tab
		e.Tabs = append(e.Tabs, row)
		return nil
	})
}

func (e *Everything) loadGroups(ctx context.Context, t *sql.Tx) error {
	return each(ctx, t, `SELECT id, body FROM groups ORDER BY id`, func(scan func(...any) error) error {
		var id, body string
		if err := scan(&id, &body); err != nil {
			return err
		}
		group, err := decode(body, func(g davit.Group) string { return string(g.ID) }, id)
		if err != nil {
			e.fault("groups", id, err)
			return nil
		}
		e.Groups = append(e.Groups, group)
		return nil
	})
}

func (e *Everything) loadOpenings(ctx context.Context, t *sql.Tx) error {
	return each(ctx, t, `SELECT id, config, worktree, created FROM openings ORDER BY created, id`, func(scan func(...any) error) error {
		var row OpeningRow
		var created int64
		if err := scan(&row.ID, &row.Config, &row.Worktree, &created); err != nil {
			return err
		}
		row.Created = time.UnixMilli(created)
		e.Openings = append(e.Openings, row)
		return nil
	})
}

func (e *Everything) loadPanes(ctx context.Context, t *sql.Tx) error {
	return each(ctx, t, `SELECT id, tab, body, spec, checkpoint, effects_through, keeper_boot, closing FROM panes ORDER BY id`, func(scan func(...any) error) error {
		var (
			row                 PaneRow
			id, tab, body, spec string
			checkpoint, effects int64
			closing             sql.NullString
		)
		if err := scan(&id, &tab, &body, &spec, &checkpoint, &effects, &row.KeeperBoot, &closing); err != nil {
			return err
		}
		pane, err := decode(body, func(p davit.Pane) string { return string(p.ID) }, id)
		if err == nil {
			err = json.Unmarshal([]byte(spec), &row.Spec)
		}
		if err == nil && closing.Valid {
			row.Closed = new(PaneClosing)
			err = json.Unmarshal([]byte(closing.String), row.Closed)
		}
		if err != nil {
			e.Faults = append(e.Faults, RowFault{Table: "panes", ID: id, Tab: davit.TabID(tab), Err: err})
			return nil
		}
		row.Pane, row.Checkpoint, row.EffectsThrough = pane, uint64(checkpoint), uint64(effects)
		e.Panes = append(e.Panes, row)
		return nil
	})
}

func (e *Everything) loadNotices(ctx context.Context, t *sql.Tx) error {
	return each(ctx, t, `SELECT id, body FROM notices ORDER BY created, id`, func(scan func(...any) error) error {
		var id, body string
		if err := scan(&id, &body); err != nil {
			return err
		}
		notice, err := decode(body, func(n davit.Notice) string { return n.ID }, id)
		if err != nil {
			e.fault("notices", id, err)
			return nil
		}
		e.Notices = append(e.Notices, notice)
		return nil
	})
}

func (e *Everything) loadCleanups(ctx context.Context, t *sql.Tx) error {
	return each(ctx, t, `SELECT id, tab, title, repo, worktree, plan, state, steps, pane, created, changed FROM cleanups ORDER BY created, id`, func(scan func(...any) error) error {
		var (
			row              CleanupRow
			plan, steps      string
			created, changed int64
		)
		if err := scan(&row.ID, &row.Tab, &row.TabTitle, &row.Repo, &row.Worktree, &plan, &row.State, &steps, &row.Pane, &created, &changed); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(plan), &row.Plan); err != nil {
			e.fault("cleanups", row.ID, err)
			return nil
		}
		if steps != "" {
			row.Steps = json.RawMessage(steps)
		}
		row.Created, row.Changed = time.UnixMilli(created), time.UnixMilli(changed)
		e.Cleanups = append(e.Cleanups, row)
		return nil
	})
}

func (e *Everything) loadWorktrees(ctx context.Context, t *sql.Tx) error {
	return each(ctx, t, `SELECT id, instance, operation, body, created FROM worktrees ORDER BY created, id`, func(scan func(...any) error) error {
		var (
			row     WorktreeRow
			body    string
			created int64
		)
		if err := scan(&row.ID, &row.Instance, &row.Operation, &body, &created); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(body), &row.Worktree); err != nil {
			e.fault("worktrees", row.ID, err)
			return nil
		}
		row.Created = time.UnixMilli(created)
		e.Worktrees = append(e.Worktrees, row)
		return nil
	})
}

func (e *Everything) loadActs(ctx context.Context, t *sql.Tx) error {
	return each(ctx, t, `SELECT id, pane, kind, body, created FROM acts WHERE session = '' ORDER BY seq`, func(scan func(...any) error) error {
		var (
			row     ActRow
			created int64
		)
		if err := scan(&row.ID, &row.Pane, &row.Kind, &row.Body, &created); err != nil {
			return err
		}
		row.Created = time.UnixMilli(created)
		e.Acts = append(e.Acts, row)
		return nil
	})
}
