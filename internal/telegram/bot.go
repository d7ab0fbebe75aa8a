package telegram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	tg "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/conversation"
	"github.com/manifold-run/manifold/orchestrator/gates"
)

// callTimeout bounds one call of the Bot API that does not wait on purpose.
const callTimeout = 20 * time.Second

// Config is how the bot works; zero values take the defaults in brackets.
type Config struct {
	// Token is what BotFather gave.
	Token string
	// APIURL is where the Bot API is ["https://api.telegram.org"].
	APIURL string
	// People may use the bot, by their Telegram user ids; nobody else may.
	People map[int64]Person
	// Groups are the ids of the groups in which it answers; private chats need no
	// entry.
	Groups []int64
	// Approvers are the chats that are told of gates of others: ids of people, for
	// their private chats, or of groups; both as they are listed above.
	Approvers []int64
	// PollTimeout is how long one poll waits for news [50s].
	PollTimeout time.Duration
	// Pause is the wait after a failure [1s]; it doubles up to PauseMax [1m].
	Pause, PauseMax time.Duration
	// Limits are what Telegram lets a bot send.
	Limits Limits
	Now    func() time.Time
	Logger *slog.Logger
}

func (c Config) withDefaults() (Config, error) {
	c.APIURL = cmp.Or(c.APIURL, "https://api.telegram.org")
	at, err := url.Parse(c.APIURL)
	switch {
	case c.Token == "" || strings.ContainsAny(c.Token, "/ \t\r\n?#"):
		return c, errors.New("telegram: the token must be the one that BotFather gave")
	case err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" || at.User != nil || at.RawQuery != "":
		return c, errors.New("telegram: the URL of the API must be http(s)://host without user and query")
	case len(c.People) == 0:
		return c, errors.New("telegram: at least one person must be allowed to use the bot")
	}
	for _, id := range c.Groups {
		if id >= 0 {
			return c, fmt.Errorf("telegram: %d is no group; their ids are negative", id)
		}
	}
	for _, id := range c.Approvers {
		if _, person := c.People[id]; !person && !slices.Contains(c.Groups, id) {
			return c, fmt.Errorf("telegram: the chat %d of approvers is neither a person nor a group on the lists", id)
		}
	}
	c.PollTimeout = cmp.Or(c.PollTimeout, 50*time.Second)
	c.Pause, c.PauseMax = cmp.Or(c.Pause, time.Second), cmp.Or(c.PauseMax, time.Minute)
	c.Limits.PerSecond = cmp.Or(c.Limits.PerSecond, 25)
	c.Limits.Chat, c.Limits.Group = cmp.Or(c.Limits.Chat, time.Second), cmp.Or(c.Limits.Group, 3200*time.Millisecond)
	c.Limits.Progress = cmp.Or(c.Limits.Progress, 2*time.Second)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// Deps are what the bot works with.
type Deps struct {
	Conversation *conversation.Conversation
	Gates        *gates.Gates
	Inbox        orchestrator.Inbox
}

// Bot is one Telegram bot.
type Bot struct {
	cfg          Config
	conversation *conversation.Conversation
	gates        *gates.Gates
	inbox        orchestrator.Inbox
	api          *api
	people       map[int64]access.Principal
	groups       map[int64]bool
	channel      string
	id           int64
	name         string // without the @; set before anything is read

	stop context.CancelFunc
	work sync.WaitGroup

	mu        sync.Mutex // guards the fields below
	lanes     map[string][]job
	shows     map[string]*show // by run and chat
	refused   map[int64]time.Time
	strangers int
}

// New makes a bot; nothing is asked before Start.
func New(cfg Config, deps Deps) (*Bot, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if deps.Conversation == nil || deps.Gates == nil || deps.Inbox == nil {
		return nil, errors.New("telegram: conversation, gates and inbox are needed")
	}
	b := &Bot{
		cfg: cfg, conversation: deps.Conversation, gates: deps.Gates, inbox: deps.Inbox, groups: map[int64]bool{},
		lanes: map[string][]job{}, shows: map[string]*show{}, refused: map[int64]time.Time{},
	}
	for _, id := range cfg.Groups {
		b.groups[id] = true
	}
	if b.people, err = principals(cfg.People); err != nil {
		return nil, err
	}
	if b.api, err = newAPI(cfg); err != nil {
		return nil, err
	}
	b.id = b.api.bot.ID()
	b.channel = "telegram:" + strconv.FormatInt(b.id, 10)
	return b, nil
}

// Start asks Telegram who the bot is and begins to poll. A token that Telegram
// does not know is an error; a Telegram that cannot be reached is tried again.
func (b *Bot) Start(ctx context.Context) error {
	if b.stop != nil {
		return nil
	}
	me, err := b.api.me(ctx)
	if unauthorized(err) {
		return errors.New("telegram does not know this token; ask BotFather for the current one")
	}
	if err != nil {
		b.cfg.Logger.WarnContext(ctx, "telegram cannot be reached yet", slog.Any("error", b.api.safe(err)))
	}
	// The bot lives until Stop, not as long as the call that starts it.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	b.stop = stop
	b.work.Go(func() { b.run(work, me) })
	return nil
}

// Stop ends polling and waits for what is being taken; what is not answered yet
// is taken up by the next Start. A second call is harmless.
func (b *Bot) Stop(ctx context.Context) error {
	if b.stop == nil {
		return nil
	}
	b.stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.work.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run polls until it is stopped.
func (b *Bot) run(ctx context.Context, me *models.User) {
	for wait := b.cfg.Pause; me == nil; wait = b.longer(wait) {
		if sleep(ctx, wait) != nil {
			return
		}
		var err error
		if me, err = b.api.me(ctx); err != nil && ctx.Err() == nil {
			b.complain(ctx, err)
		}
	}
	b.name = me.Username
	b.cfg.Logger.InfoContext(ctx, "telegram bot is ready", slog.String("bot", b.name), slog.Int("people", len(b.people)))
	b.announce(ctx)
	b.tellGivenUp(ctx)
	b.resume(ctx)
	b.work.Go(func() { b.callApprovers(ctx) })
	b.poll(ctx)
}

func (b *Bot) longer(wait time.Duration) time.Duration { return min(2*wait, b.cfg.PauseMax) }

// announce tells Telegram the commands, which it offers in its menu.
func (b *Bot) announce(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	list := &tg.SetMyCommandsParams{}
	for _, c := range commands {
		list.Commands = append(list.Commands, models.BotCommand{Command: c.name, Description: c.about})
	}
	if _, err := b.api.bot.SetMyCommands(ctx, list); err != nil {
		b.cfg.Logger.InfoContext(ctx, "telegram did not take the list of commands", slog.Any("error", b.api.safe(err)))
	}
}
