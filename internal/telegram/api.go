package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	tg "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// maxAnswer bounds one response of the Bot API: a batch has at most 100 updates.
const maxAnswer = 16 << 20

// api is the Bot API. It uses the library, except for getUpdates: the library acknowledges an update
// when it delivers it, and the bot only after it has stored it.
type api struct {
	bot   *tg.Bot
	http  bounded
	base  string
	token string
	pace  *pace
}

func newAPI(cfg Config) (*api, error) {
	a := &api{base: strings.TrimRight(cfg.APIURL, "/"), token: cfg.Token, pace: newPace(cfg.Limits)}
	// A poll waits as long as requested, other calls return soon. Both are bounded by their contexts.
	a.http = bounded{&http.Client{Timeout: cfg.PollTimeout + callTimeout, CheckRedirect: refuse}}
	var err error
	a.bot, err = tg.New(cfg.Token, tg.WithSkipGetMe(), tg.WithServerURL(a.base), tg.WithHTTPClient(cfg.PollTimeout, a.http),
		tg.WithErrorsHandler(func(error) {})) // each of them also fails its call
	if err != nil {
		return nil, fmt.Errorf("telegram: %w", err)
	}
	return a, nil
}

// refuse follows no redirects, because the URL contains the token.
func refuse(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// bounded is a client that limits responses.
type bounded struct{ client *http.Client }

// Do sends a request.
func (b bounded) Do(r *http.Request) (*http.Response, error) {
	res, err := b.client.Do(r) //nolint:gosec // the address is the operator's
	if err == nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, maxAnswer), res.Body}
	}
	return res, err
}

// refusal is an error response of the Bot API to getUpdates.
type refusal struct {
	code       int
	text       string
	retryAfter time.Duration
}

func (r *refusal) Error() string { return fmt.Sprintf("telegram answered %d: %s", r.code, r.text) }

// update is an update with its raw JSON.
type update struct {
	models.Update

	raw json.RawMessage
}

// updates returns the updates from an offset on. It waits for them, at most for wait.
func (a *api) updates(ctx context.Context, offset int64, wait time.Duration) ([]update, error) {
	ctx, cancel := context.WithTimeout(ctx, wait+callTimeout)
	defer cancel()
	body, err := json.Marshal(map[string]any{
		"offset": offset, "timeout": int(wait.Seconds()), "allowed_updates": []string{"message", "edited_message", "callback_query"},
	})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.base+"/bot"+a.token+"/getUpdates", bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("telegram: the address of the API is not valid")
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := a.http.Do(req)
	if err != nil {
		return nil, a.safe(err)
	}
	defer res.Body.Close()
	var answer struct {
		OK          bool              `json:"ok"`
		Result      []json.RawMessage `json:"result"`
		Description string            `json:"description"`
		ErrorCode   int               `json:"error_code"`
		Parameters  struct {
			RetryAfter int `json:"retry_after"`
		} `json:"parameters"`
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		return nil, &refusal{code: res.StatusCode, text: "not the answer of a Bot API"}
	}
	if !answer.OK {
		return nil, &refusal{code: answer.ErrorCode, text: answer.Description, retryAfter: time.Duration(answer.Parameters.RetryAfter) * time.Second}
	}
	return decodeUpdates(answer.Result), nil
}

// decodeUpdates decodes updates one by one. Of an undecodable one it keeps the number, so that it does
// not block the others.
func decodeUpdates(raw []json.RawMessage) []update {
	out := make([]update, 0, len(raw))
	for _, r := range raw {
		u := update{raw: r}
		if json.Unmarshal(r, &u.Update) != nil {
			var number struct {
				ID int64 `json:"update_id"`
			}
			if json.Unmarshal(r, &number) != nil {
				continue
			}
			u = update{Update: models.Update{ID: number.ID}, raw: r}
		}
		out = append(out, u)
	}
	return out
}

// safe removes the token from an error of net/http.
func (a *api) safe(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		e.URL = strings.ReplaceAll(e.URL, a.token, "***")
	}
	return err
}

// me returns the bot's user, which also verifies the token.
func (a *api) me(ctx context.Context) (*models.User, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return a.bot.GetMe(ctx)
}

// unauthorized reports whether the token is invalid. Telegram answers 404 to a malformed token.
func unauthorized(err error) bool {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.code == http.StatusUnauthorized || r.code == http.StatusNotFound
	}
	return errors.Is(err, tg.ErrorUnauthorized) || errors.Is(err, tg.ErrorNotFound)
}

// hopeless reports whether a repeated call would fail as well: the chat is gone, the bot was blocked,
// or the message cannot be changed.
func hopeless(err error) bool {
	_, moved := errors.AsType[*tg.MigrateError](err)
	return moved || errors.Is(err, tg.ErrorForbidden) || errors.Is(err, tg.ErrorBadRequest) || unauthorized(err)
}

// retryAfter returns the wait that Telegram requests, 0 if there is none.
func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*tg.TooManyRequestsError](err); ok {
		return max(time.Duration(e.RetryAfter)*time.Second, time.Second)
	}
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.retryAfter
	}
	return 0
}

// about reports whether an error's text contains words; Telegram has no codes for these reasons.
func about(err error, words string) bool {
	return err != nil && strings.Contains(strings.ToLower(err.Error()), words)
}
