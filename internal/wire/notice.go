package wire

import (
	"davit"
)

// NoticeList is notice.list.
type NoticeList struct {
	Notices []davit.Notice `json:"notices"`
}

// NoticeRef names one.
type NoticeRef struct {
	ID string `json:"id"`
}

// NoticeAct is notice.act.
type NoticeAct struct {
	ID     string `json:"id"`
	Action string `json:"action"`
}
