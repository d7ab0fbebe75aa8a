package contracts

// ReviewTerms says who reviews, how many of them, and when.
type ReviewTerms struct {
	// Roles and Quorum are as in ApprovalRule.
	Roles  []string `json:"roles,omitempty"`
	Quorum int      `json:"quorum,omitempty"`
	ReviewTimes
}

// ReviewTimes restricts the approvers and the times of approval. It never allows an approval that
// is otherwise forbidden.
type ReviewTimes struct {
	// People, if set, are the only people who may approve. They need a role too.
	People []string `json:"people,omitempty"`
	// WaitS is the time after the opening of the gate before anyone may approve, in seconds.
	WaitS int `json:"wait_s,omitempty"`
	// RemindS is the interval of reminders and EscalateS the time after the opening at which
	// EscalateTo is notified, both in seconds.
	RemindS    int      `json:"remind_s,omitempty"`
	EscalateS  int      `json:"escalate_s,omitempty"`
	EscalateTo []string `json:"escalate_to,omitempty"`
}

// stricter returns the common people, or those of b if there are none, the longer wait and the
// earlier notifications.
func (a ReviewTimes) stricter(b ReviewTimes) ReviewTimes {
	out := ReviewTimes{
		People: stricterRoles(a.People, b.People), WaitS: max(a.WaitS, b.WaitS), RemindS: minSet(a.RemindS, b.RemindS),
		EscalateS: minSet(a.EscalateS, b.EscalateS), EscalateTo: a.EscalateTo,
	}
	if len(out.EscalateTo) == 0 || b.EscalateS != 0 && b.EscalateS == out.EscalateS {
		out.EscalateTo = b.EscalateTo
	}
	if len(out.People) == 0 {
		out.People = nil
	}
	return out
}
