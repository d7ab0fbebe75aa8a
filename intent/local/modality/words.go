package modality

import "github.com/manifold-run/manifold/intent/local/lexicon"

// is reports whether a word is of a class in any language: restraint counts in all of
// them, so that a wrong guess of the language can only ask.
func is(fold string, c lexicon.Class) bool { return lexicon.Shipped().Folded(fold).Has(c) }

// Opening tells words before a request that do not change it.
func Opening(fold string) bool { return is(fold, lexicon.Opening) }

// Negates tells words such as "not" and "never".
func Negates(fold string) bool { return is(fold, lexicon.Negation) }

// Denies tells words that say no by themselves.
func Denies(fold string) bool { return is(fold, lexicon.Denial) }

// reports tells words that hand on what somebody else said, or what came to
// pass.
func reports(fold string) bool { return is(fold, lexicon.Reports) || is(fold, lexicon.Past) }

// modalityOf gives the modality that a phrase tells.
func modalityOf(m lexicon.Modality) Modality {
	switch m {
	case lexicon.ModalityWhatIf:
		return WhatIf
	case lexicon.ModalityHowTo:
		return HowTo
	case lexicon.ModalityPermission:
		return Permission
	case lexicon.ModalityQuestion:
		return Question
	case lexicon.ModalityMore:
		return More
	case lexicon.ModalityNegated:
		return Negated
	case lexicon.ModalityNarrative:
		return Narrative
	case lexicon.ModalityCondition:
		return Conditional
	case lexicon.ModalityPolite, lexicon.ModalityFollowUp:
	}
	return 0
}
