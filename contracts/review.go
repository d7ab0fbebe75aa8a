package contracts

// ReviewTerms are who reviews, how many of them, and when.
type ReviewTerms struct {
	// Roles and Quorum are those of ApprovalRule.
	Roles  []string `json:"roles,omitempty"`
	Quorum int      `json:"quorum,omitempty"`
	ReviewTimes
}

// ReviewTimes narrow who of the pool approves and say when: none of them lets
// anybody approve who could not without them.
type ReviewTimes struct {
	// People are the only ones who approve, if there are any; they need a role too.
	People []string `json:"people,omitempty"`
	// WaitS is how long after its gate was opened nobody can approve yet.
	WaitS int `json:"wait_s,omitempty"`
	// RemindS is the pause between two reminders, EscalateS how long after the
	// opening those of EscalateTo are told.
	RemindS    int      `json:"remind_s,omitempty"`
	EscalateS  int      `json:"escalate_s,omitempty"`
	EscalateTo []string `json:"escalate_to,omitempty"`
}

// stricter are the people whom both name, or those of the second where they have
// nobody in common, the longer wait and the earlier notices.
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
