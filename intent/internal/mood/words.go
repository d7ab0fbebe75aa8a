package mood

import "github.com/manifold-run/manifold/intent/internal/lang"

// is tells whether a word is of a class in any language: restraint counts in all of
// them, so that a wrong guess of the language can only ask.
func is(fold string, c lang.Class) bool { return lang.Shipped().Folded(fold).Has(c) }

// Opening tells words before a request that do not change it.
func Opening(fold string) bool { return is(fold, lang.Opening) }

// Negates tells words such as "not" and "never".
func Negates(fold string) bool { return is(fold, lang.Negation) }

// Denies tells words that say no by themselves.
func Denies(fold string) bool { return is(fold, lang.Denial) }

// reports tells words that hand on what somebody else said, or what came to
// pass.
func reports(fold string) bool { return is(fold, lang.Reports) || is(fold, lang.Past) }

// moodOf gives the mood that a phrase tells.
func moodOf(m lang.Mood) Mood {
	switch m {
	case lang.MoodWhatIf:
		return WhatIf
	case lang.MoodHowTo:
		return HowTo
	case lang.MoodPermission:
		return Permission
	case lang.MoodQuestion:
		return Question
	case lang.MoodMore:
		return More
	case lang.MoodNegated:
		return Negated
	case lang.MoodNarrative:
		return Narrative
	case lang.MoodCondition:
		return Conditional
	case lang.MoodPolite, lang.MoodFollowUp:
	}
	return 0
}
