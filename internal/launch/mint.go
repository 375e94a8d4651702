package launch

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"davit"
	"davit/internal/launch/intent"
	"davit/internal/store"
)

// mint names what a launch will make: the caller's own names where it gave them (L1).
func mint(in davit.Intent) store.Minted {
	m := store.Minted{
		TabID:            davit.TabID("t_" + randomHex(8)),
		PaneID:           davit.PaneID("p_" + randomHex(8)),
		SessionID:        in.SessionID,
		WorktreeInstance: "wt_" + randomHex(8),
	}
	if tab, pane, ok := intent.SplitPaneKey(in.PaneKey); ok {
		m.TabID, m.PaneID = tab, pane
	}
	if m.SessionID == "" {
		h := randomHex(16)
		m.SessionID = in.Agent + "_" + h[:8] + "_" + h[8:12] + "_" + h[12:16] + "_" + h[16:20] + "_" + h[20:]
	}
	m.PaneKey = davit.NewPaneKey(m.TabID, m.PaneID)
	return m
}

// TerminalHandle makes the handle of a pane for one life of its program: the same for
// the same two, another after the pane was started anew. It is what Surfaces may use.
func TerminalHandle(pane davit.PaneID, life string) string {
	return "term_" + dashed(string(pane)+"\x00"+life)
}

// ChatHandle makes the handle of a chat for one life of its agent, likewise.
func ChatHandle(id davit.SessionID, life string) string {
	return "chat_" + dashed(string(id)+"\x00"+life)
}

func dashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// messageID is that of a launch's prompt in a chat's journal: the operation id, else a
// fresh one of the same form (L2.2).
func messageID(operation string, now time.Time) string {
	if operation != "" {
		return operation
	}
	return fmt.Sprintf("%013d-%s", now.UnixMilli(), randomHex(16))
}

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // crypto/rand does not fail
	return hex.EncodeToString(b)
}
