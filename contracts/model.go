package contracts

// ModelPurpose is the purpose of a model call.
type ModelPurpose string

// The purposes of calls.
const (
	PurposeReason     ModelPurpose = "reason"
	PurposeUnderstand ModelPurpose = "understand"
	PurposeJudge      ModelPurpose = "judge"
	PurposeCheck      ModelPurpose = "check"
	PurposeAnswer     ModelPurpose = "answer"
)

// ModelCall is the usage of one model call, successful or not.
type ModelCall struct {
	Purpose ModelPurpose `json:"purpose"`
	Model   string       `json:"model"`
	// SkillSHA256 is the digest of the skill in the instructions, if any.
	SkillSHA256 string `json:"skill_sha256,omitempty"`
	Tokens      Tokens `json:"tokens"`
	// Estimated means that the server did not report token counts and Tokens is estimated from
	// the length of the texts.
	Estimated bool `json:"estimated,omitempty"`
	// DurationMS is the wall time in milliseconds, including transport retries.
	DurationMS int64 `json:"duration_ms"`
	// Repair means that the call asked to correct the answer of the previous call.
	Repair bool `json:"repair,omitempty"`
	// Error is the reason why the call gave no answer, for display. It is empty after success.
	Error string `json:"error,omitempty"`
}

// SumTokens returns the sum of the tokens of calls.
func SumTokens(calls []ModelCall) (sum Tokens) {
	for _, c := range calls {
		sum = sum.Add(c.Tokens)
	}
	return sum
}
