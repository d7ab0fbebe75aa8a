package reasoning

import "github.com/manifold-run/manifold/contracts"

const wordingRules = `You word the answer to the question that stands under "question" out of what was found for it, which stands under the other inputs.
- Write in the language of the question. Say first what was asked for, in one to five short sentences that can each be read alone.
- Say only what stands in what was found. Write numbers as digits, and every number, date, name and id with the value and the unit that stand there. You may add up, subtract and count. Show any other calculation in the sentence, with numbers as they stand: "144 EUR (3 × 48 = 144)", "1:30 (12:30 − 11:00 = 1:30)".
- Say beside each value whose it is. Say nothing of what was not asked for: a table with all that was found is shown below your words.
- Write plain text: no Markdown, no HTML. A link only where it was asked for, as it stands.
- Where what was found does not answer the question, give no sentences.`

// maxWording bounds the tokens of a wording.
const maxWording = 512

// Wording is the input for a model that words an answer: the question and the findings.
type Wording struct {
	Inputs map[string]contracts.Compact
	// Output is a schema with a list of sentences.
	Output *contracts.Schema
}

// Task returns the wording as a task. The caller must check the result sentence by sentence.
func (w Wording) Task() Task {
	return Task{
		Skill: contracts.CompactWords(wordingRules), Inputs: w.Inputs, Output: w.Output, Size: SizeSmall, TokensLeft: NoBudget,
		Purpose: contracts.PurposeAnswer, MaxOutputTokens: maxWording,
	}
}
