package session

import (
	"encoding/json"

	"davit/internal/keeper"
)

// bootOf names a keeper: no other process, now or later, has the same name.
func bootOf(h keeper.Hello) string {
	name, _ := json.Marshal(keeper.Record{Pid: h.Pid, StartTime: h.StartTime, BootID: h.BootID}) // plain values: cannot fail
	return string(name)
}

// keeperLives says whether the very keeper of that name lives.
func keeperLives(boot string) bool {
	var rec keeper.Record
	return json.Unmarshal([]byte(boot), &rec) == nil && keeper.Alive(rec)
}
