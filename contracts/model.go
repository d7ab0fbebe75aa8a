package contracts

// ModelPurpose describes what a call of a model was for.
type ModelPurpose string

// The purposes of calls.
const (
	PurposeReason     ModelPurpose = "reason"
	PurposeUnderstand ModelPurpose = "understand"
	PurposeJudge      ModelPurpose = "judge"
	PurposeCheck      ModelPurpose = "check"
	PurposeAnswer     ModelPurpose = "answer"
)

// ModelCall is what one call of a model cost, whatever became of it.
type ModelCall struct {
	Purpose ModelPurpose `json:"purpose"`
	Model   string       `json:"model"`
	// SkillSHA256 is the digest of the skill that it was instructed by, if any.
	SkillSHA256 string `json:"skill_sha256,omitempty"`
	Tokens      Tokens `json:"tokens"`
	// Estimated means that the server did not say how many tokens it used, and
	// that Tokens is our estimate from the length of the texts.
	Estimated bool `json:"estimated,omitempty"`
	// DurationMS is the wall time in milliseconds, retries of the transport
	// included.
	DurationMS int64 `json:"duration_ms"`
	// Repair means that the call asked to mend the answer of the one before.
	Repair bool `json:"repair,omitempty"`
	// Error explains why the call gave nothing, for people; empty if it gave an answer.
	Error string `json:"error,omitempty"`
}

// SumTokens adds what calls used.
func SumTokens(calls []ModelCall) (sum Tokens) {
	for _, c := range calls {
		sum = sum.Add(c.Tokens)
	}
	return sum
}
