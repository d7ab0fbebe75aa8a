package modality

import "github.com/manifold-run/manifold/intent/local/lexicon"

// is reports whether a word has a class in any language. Holding back in all languages is safe: a
// wrong language guess can only lead to a question.
func is(fold string, c lexicon.Class) bool { return lexicon.Shipped().Folded(fold).Has(c) }

// Opening reports whether a word before a request does not change it.
func Opening(fold string) bool { return is(fold, lexicon.Opening) }

// Negates reports whether a word is a negation such as "not" or "never".
func Negates(fold string) bool { return is(fold, lexicon.Negation) }

// Denies reports whether a word is a negative answer by itself.
func Denies(fold string) bool { return is(fold, lexicon.Denial) }

// reports is true of a word that introduces reported speech or past events.
func reports(fold string) bool { return is(fold, lexicon.Reports) || is(fold, lexicon.Past) }

// modalityOf converts the modality of a phrase.
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
