package launch

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"davit"
	"davit/internal/store"
)

// unfingerprinted are the fields that do not make another launch (L6.2).
var unfingerprinted = []string{"operationId", "launchSource", "placement", "presentation"}

// stored gives the intent as the ledger keeps it: canonical JSON (sorted names, nothing
// absent), with each value of accountEnv replaced by a keyed hash (L1, L6.1).
func stored(in davit.Intent, key []byte) []byte { return canonical(fields(in, key)) }

// fingerprint is the SHA-256 of L6.2 over a checked intent.
func fingerprint(in davit.Intent, key []byte) string {
	all := fields(in, key)
	for _, name := range unfingerprinted {
		delete(all, name)
	}
	sum := sha256.Sum256(canonical(all))
	return hex.EncodeToString(sum[:])
}

func fields(in davit.Intent, key []byte) map[string]any {
	if in.AccountEnv != nil {
		hashed := make(map[string]string, len(in.AccountEnv))
		for name, value := range in.AccountEnv {
			hashed[name] = secretHash(key, name, value)
		}
		in.AccountEnv = hashed
	}
	var all map[string]any
	if err := json.Unmarshal(encode(in), &all); err != nil {
		panic("launch: an intent does not decode as an object: " + err.Error())
	}
	return all
}

// canonical relies on encoding/json sorting the names of maps. There are no numbers in
// an intent, so nothing depends on how one is written.
func canonical(all map[string]any) []byte { return encode(all) }

func secretHash(key []byte, name, value string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(name))
	mac.Write([]byte{0})
	mac.Write([]byte(value))
	return hex.EncodeToString(mac.Sum(nil))
}

// mint names what a launch will make: the caller's own names where it gave them (L1).
func mint(in davit.Intent) store.Minted {
	m := store.Minted{
		TabID:            davit.TabID("t_" + randomHex(8)),
		PaneID:           davit.PaneID("p_" + randomHex(8)),
		SessionID:        in.SessionID,
		WorktreeInstance: "wt_" + randomHex(8),
	}
	if parts := paneKeyForm.FindStringSubmatch(string(in.PaneKey)); parts != nil {
		m.TabID, m.PaneID = davit.TabID(parts[1]), davit.PaneID(parts[2])
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
	sum := sha256.Sum256([]byte(string(pane) + "\x00" + life))
	h := hex.EncodeToString(sum[:16])
	return "term_" + h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // crypto/rand does not fail
	return hex.EncodeToString(b)
}
