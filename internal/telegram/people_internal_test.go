package telegram

import (
	"testing"

	"github.com/go-telegram/bot/models"
)

func TestAPieceOfAMessageThatIsNotInItHarmsNothing(t *testing.T) {
	t.Parallel()
	b := &messageFilter{id: 7, name: "bot"}
	for _, e := range []models.MessageEntity{{Offset: 90, Length: 1}, {Offset: 1, Length: 90}, {Offset: -1, Length: 1}, {Offset: 1, Length: -1}} {
		e.Type, e.User = models.MessageEntityTypeTextMention, &models.User{ID: 7}
		if got := b.unaddressed(&models.Message{Text: "status", Entities: []models.MessageEntity{e}}); got != "status" {
			t.Errorf("%+v: %q", e, got)
		}
	}
}
