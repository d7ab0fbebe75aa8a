package mood

import "slices"

type moodGroup struct {
	mood    Mood
	phrases []string
}

// moodPhrases are the first words by Mood, in English, Portuguese, Spanish,
// German and French; "|" separates words that may stand for each other.
func moodPhrases() []moodGroup {
	return []moodGroup{
		{WhatIf, []string{
			"what would|will|could|happens|happened|if", "suppose|imagine|supposing|assuming", "if i|we|you|he|she|they were|would|had|could|did", "how|what about if",
			"e|y|et se|si", "o que acontece|aconteceria|aconteceu|sucede|seria", "que aconteceria|acontece", "suponha|suponhamos|supondo|supoe|digamos|imagina|imaginemos",
			"que pasa|pasaria|pasara|ocurre|ocurriria|sucede|sucederia", "supongamos|suponiendo|imaginate|supon",
			"was passiert|wurde|ware|geschieht|geschahe|hiesse", "angenommen|gesetzt", "mal angenommen", "stell dir vor", "nehmen wir",
			"que se passe|passerait|passera", "qu arrive|arriverait|adviendrait", "qu est ce qui se|arrive", "imaginons|supposons|admettons",
		}},
		{HowTo, []string{
			"how do|can|could|would|should|to|does|did|might", "explain|describe", "tell|show|teach me|us how", "is there a|any way|option", "is it possible|allowed|ok|safe", "would it be",
			"what is the way|process|procedure", "what are the steps", "can|could|would|will you explain|describe", "can|could|would|will you tell|show|teach me|us how",
			"ha|existe|hay alguma|alguna forma|maneira|manera|jeito|modo", "qual|cual e|es|o|a a|o|la|el forma|maneira|manera|processo|jeito", "e|es|seria possivel|posible|permitido|necessario|necesario", "se puede|pode", "da para|pra",
			"gibt es eine|einen|ne moglichkeit|weg", "ist|ware es moglich|erlaubt|sinnvoll|okay|ok", "kann|konnte man", "lasst|lassen sich",
			"est|serait il|ce possible|permis", "y a t il un|une moyen|facon", "peut|pourrait on", "est ce qu il est possible",
		}},
		{Permission, []string{
			"can|could|may|might|should|must|shall i|we", "am i allowed|able", "do i|we have|need to",
			"posso|podemos|puedo|devo|devemos|debo|debemos|deveria|deberia|deberiamos", "sera que", "kann|darf|soll|muss|sollte|konnte|konnen|durfen|sollen|mussen|sollten ich|wir|man|der|die|das|ein|eine",
			"maybe|perhaps|talvez|quiza|quizas|vielleicht", "peut etre",
			"puis|peux|dois|devrais je", "doit|devrait on", "je|on peux|peut", "est ce que je|on|nous", "faut il",
		}},
		{Question, []string{
			"did|was|were|has|have|had|is|are|does|am|why|who|whose|whom|which|where", "when did|was|were|is|are|does|do|will|can|has|have", "do i|we|you|they", "will it|he|she|they|that|this|the",
			"o que", "por|pourquoi que", "quem|qual|quais|onde|quantos|quantas|quanto|foi|foram", "e|es|est boa|bom|buena|bueno|mala|ce|que",
			"quien|quienes|cual|cuales|donde|cuantos|cuantas|cuanto|cuanta|fue|fueron|has|ha|se ha|han|*",
			"warum|wieso|weshalb|wer|wen|wem|wann|welche|welcher|welches|wo|wurde|wurden|hat|hast|habe|habt|haben|ist|sind",
			"qui|quel|quelle|quels|quelles|combien|pourquoi", "as|a|avez|ont tu|t|vous", "est ce",
		}},
		{More, []string{
			"remind me|us", "lembra|lembre|lembrem me|nos", "recuerdame|recuerdanos", "erinnere|erinner mich|uns", "rappelle|rappelez moi|nous",
			"undo|revert", "desfaz|desfaca|desfazer|reverte|deshaz|deshacer|revierte",
		}},
	}
}

// Opening tells words before a request that do not change it.
func Opening(fold string) bool {
	switch fold {
	case "please", "hi", "hello", "hey", "ok", "okay", "so", "and", "then", "also", "now", "well", "but", "or", "por", "favor", "bitte", "oi", "ola",
		"hola", "bonjour", "salut", "hallo", "gracias", "obrigado", "obrigada", "danke", "merci", "entao", "entonces", "alors", "pero", "aber":
		return true
	}
	return false
}

// leads tells gerunds that stand before a request like a preposition.
func leads(fold string) bool {
	return slices.Contains([]string{"starting", "beginning", "regarding", "concerning", "including", "following", "according", "during", "string"}, fold)
}

// goesOn tells the first words of what goes on from an earlier message.
func goesOn(first, second string) bool {
	switch first {
	case "and", "e", "y", "und", "et":
		return true
	case "what", "how":
		return second == "about"
	case "was":
		return second == "ist"
	}
	return false
}

// reports tells words that hand on what somebody else said, or what came to
// pass.
func reports(fold string) bool {
	switch fold {
	case "was", "were", "been", "had", "tinha", "havia", "hatte", "hatten", "habia", "avait", "foi", "foram", "fue", "fueron", "wurde", "wurden":
		return true
	case "says", "said", "wrote", "writes", "claims", "claimed", "told", "tells", "asked", "asks", "diz", "disse", "falou", "pediu", "pidio", "gebeten", "dice", "dijo", "sagt", "sagte", "gesagt", "meint", "meinte", "schreibt", "dit":
		return true
	}
	return false
}

// ponders tells words of somebody who only thinks of it.
func ponders(fold string) bool {
	return slices.Contains([]string{"thought", "considered", "wondered", "wondering", "pensei", "pensava", "pensando", "pense", "pensaba", "uberlegt", "uberlege", "dachte", "hesite", "pensais"}, fold)
}

// explains tells verbs that ask to be taught.
func explains(fold string) bool {
	switch fold {
	case "explain", "explica", "explicar", "explicas", "explique", "expliques", "expliquer", "expliquez", "explicame", "erklar", "erklare", "erklaren", "erklarst", "erlautere", "erlautern":
		return true
	}
	return false
}

// handsOn tells two words that report together: "a été", "a demandé", "sie soll".
func handsOn(first, second string) bool {
	switch second {
	case "ete", "demande", "prie", "voulu":
		return slices.Contains([]string{"a", "ont", "t", "il", "elle", "avait", "ai"}, first)
	case "soll", "sollen":
		return first == "sie" || first == "er"
	}
	return false
}

// Negates tells words such as "not" and "never".
func Negates(fold string) bool {
	switch fold {
	case "not", "dont", "never", "cannot", "cant", "wont", "didnt", "doesnt", "shouldnt", "mustnt", "wouldnt", "couldnt", "avoid", "refrain", "nobody", "nothing", "neither",
		"nao", "nunca", "jamais", "nenhum", "nenhuma", "ninguem", "evita", "evite", "evitar", "tampoco", "nadie", "ningun", "ninguna", "ninguno",
		"nicht", "nie", "niemals", "niemand", "nichts", "kein", "keine", "keinen", "keinem", "keiner", "keines", "keinesfalls", "keinerlei", "vermeide", "unterlass", "unterlasse",
		"pas", "aucun", "aucune", "evitez":
		return true
	}
	return false
}

// Denies tells words that say no by themselves.
func Denies(fold string) bool {
	return slices.Contains([]string{"no", "nope", "stop", "wait", "nein", "halt", "non", "arrete", "espera", "pare"}, fold)
}

// lacking tells words that put a request aside when they begin it.
func lacking(fold string) bool {
	switch fold {
	case "without", "sem", "sin", "ohne", "sans", "statt", "anstatt":
		return true
	}
	return false
}

func condition(fold string) bool {
	switch fold {
	case "if", "unless", "when", "whenever", "once", "provided", "assuming", "case", "quando", "caso", "cuando", "wenn", "falls", "sobald", "sofern", "quand", "lorsque", "lorsqu":
		return true
	}
	return false
}

// besidesSelf tells words before "se" that make it "itself", not "if".
func besidesSelf(fold string) bool {
	return slices.Contains([]string{"que", "quem", "como", "no", "nao", "ja", "ya", "lhe", "onde", "quando", "o", "ele", "ela"}, fold)
}

// named tells verbs behind "se" that give a name.
func givesName(fold string) bool {
	return slices.Contains([]string{"chama", "chamam", "chame", "llama", "llaman", "llame", "llamen", "apellida", "envio", "envia"}, fold)
}

// politely tells the beginning of a question that is a request: "could you …".
func politely(folds []string) bool {
	second, third := "", ""
	if len(folds) > 2 {
		second, third = folds[1], folds[2]
	}
	switch folds[0] {
	case "can", "could", "would", "will":
		return second == "you"
	case "kannst", "konntest", "konnen", "konnten", "konnt", "wurdest", "wurden", "willst", "magst":
		return second != "wir"
	case "puedes", "puede", "podrias", "podria", "podeis", "podes", "pode", "podem", "poderia", "poderias", "podias", "podia", "peux", "pourrais", "pouvez", "pourriez":
		return second != "on" && second != "je"
	case "me", "nos", "tu", "vous", "voce", "voces":
		return slices.Contains([]string{"puedes", "puede", "podrias", "podria", "peux", "pourrais", "pouvez", "pourriez", "pode", "podes", "poderia", "podem"}, second)
	case "est":
		return third == "que" && len(folds) > 3 && slices.Contains([]string{"tu", "vous"}, folds[3])
	}
	return false
}

// courteous tells words that only a request has.
func courteous(fold string) bool {
	return slices.Contains([]string{"please", "pls", "plz", "kindly", "bitte", "favor", "plait", "svp"}, fold)
}
