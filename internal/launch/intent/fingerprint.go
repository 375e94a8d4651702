package intent

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"davit"
)

// unfingerprinted are the fields that do not make another launch (L6.2).
var unfingerprinted = []string{"operationId", "launchSource", "placement", "presentation"}

// Stored gives the intent as the ledger keeps it: canonical JSON (sorted names, nothing
// absent), with each value of accountEnv replaced by a keyed hash (L1, L6.1).
func Stored(in davit.Intent, key []byte) []byte { return canonical(fields(in, key)) }

// Fingerprint is the SHA-256 of L6.2 over a checked intent.
func Fingerprint(in davit.Intent, key []byte) string {
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
	if err := json.Unmarshal(Encode(in), &all); err != nil {
		panic("intent: an intent does not decode as an object: " + err.Error())
	}
	return all
}

// canonical relies on encoding/json sorting the names of maps. There are no numbers in
// an intent, so nothing depends on how one is written.
func canonical(all map[string]any) []byte { return Encode(all) }

func secretHash(key []byte, name, value string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(name))
	mac.Write([]byte{0})
	mac.Write([]byte(value))
	return hex.EncodeToString(mac.Sum(nil))
}
