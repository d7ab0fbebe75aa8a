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

	"github.com/manifold-run/manifold/internal/telegram/render"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/conversation"
	"github.com/manifold-run/manifold/orchestrator/gates"
)

// callTimeout bounds one call of the Bot API, in addition to the wait of a poll.
const callTimeout = 20 * time.Second

// Config configures the bot; zero values take the defaults in brackets.
type Config struct {
	// Token is the token from BotFather.
	Token string
	// APIURL is the URL of the Bot API ["https://api.telegram.org"].
	APIURL string
	// People maps Telegram user ids to the people who may use the bot.
	People map[int64]Person
	// Groups are the ids of the groups in which the bot answers; private chats need no entry.
	Groups []int64
	// Approvers are the chats that are notified of other people's gates: ids of people, for their
	// private chats, or of groups. Both must be listed above.
	Approvers []int64
	// PollTimeout is how long one poll waits for updates [50s].
	PollTimeout time.Duration
	// Pause is the first delay after a failure [1s]; it doubles up to PauseMax [1m].
	Pause, PauseMax time.Duration
	// Limits are Telegram's rate limits.
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

// Deps are the services that the bot uses.
type Deps struct {
	Conversation *conversation.Conversation
	Gates        *gates.Gates
	Inbox        orchestrator.Inbox
	Notifier     orchestrator.Notifier
	// Leads reports whether this server is the leader, which runs the bot; nil means always.
	Leads func(context.Context) (bool, error)
	// Pages returns the approval pages for gates that are too long for a message; nil means none.
	Pages render.Pages
}

// Bot is one Telegram bot. The poller receives updates, the lanes process them in order, the dialogue
// answers them, and the follower shows later changes. The bot owns the goroutines of these parts.
// Start and Stop must not be called concurrently.
type Bot struct {
	cfg      Config
	api      *api
	box      *box
	audience *messageFilter
	lanes    *lanes
	intake   *updatePoller
	follower *follower
	buttons  *keyboards
	caller   *caller
	notifier orchestrator.Notifier

	stop context.CancelFunc
	work sync.WaitGroup // all goroutines of the bot
}

// New returns a bot. It calls nothing before Start.
func New(cfg Config, deps Deps) (*Bot, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if deps.Conversation == nil || deps.Gates == nil || deps.Inbox == nil || deps.Notifier == nil {
		return nil, errors.New("telegram: conversation, gates, inbox and notifier are needed")
	}
	people, err := principals(cfg.People)
	if err != nil {
		return nil, err
	}
	b := &Bot{cfg: cfg, notifier: deps.Notifier}
	if b.api, err = newAPI(cfg); err != nil {
		return nil, err
	}
	b.wire(people, deps)
	return b, nil
}

// wire creates the parts of the bot, in the order of their dependencies.
func (b *Bot) wire(people map[int64]access.Principal, deps Deps) {
	retry, logger := backoff{first: b.cfg.Pause, most: b.cfg.PauseMax}, b.cfg.Logger
	b.audience = &messageFilter{id: b.api.bot.ID(), people: people, groups: map[int64]bool{}}
	for _, id := range b.cfg.Groups {
		b.audience.groups[id] = true
	}
	channel := "telegram:" + strconv.FormatInt(b.audience.id, 10)
	out := &sender{api: b.api, retry: retry, progress: b.cfg.Limits.Progress, logger: logger}
	b.box = &box{inbox: deps.Inbox, leads: deps.Leads, channel: channel, now: b.cfg.Now, retry: retry, logger: logger}
	b.buttons = &keyboards{
		now: deps.Gates.Interrupt, out: out, work: &b.work, logger: logger, below: map[string]map[string]keyboard{}, due: map[string]bool{},
		box: &box{inbox: deps.Inbox, channel: channel + ":buttons", now: b.cfg.Now, retry: retry, logger: logger},
	}
	out.shown = b.buttons.shown
	answers := &answers{out: out, box: b.box, logger: logger}
	b.lanes = &lanes{audience: b.audience, answers: answers, work: &b.work, queues: map[string][]job{}, logger: logger}
	b.follower = newFollower(deps.Conversation, answers, b.lanes.contain, deps.Pages, &b.work)
	talk := &dialogue{
		channel: channel, audience: b.audience, conversation: deps.Conversation, gates: deps.Gates, answers: answers, follower: b.follower,
	}
	b.lanes.take = talk.take
	b.intake = &updatePoller{
		api: b.api, audience: b.audience, box: b.box, lanes: b.lanes, out: out, work: &b.work,
		wait: b.cfg.PollTimeout, retry: retry, now: b.cfg.Now, logger: logger, refused: map[int64]time.Time{},
	}
	b.caller = &caller{
		gates: deps.Gates, people: people, chats: b.cfg.Approvers, out: out, pages: deps.Pages,
		box: &box{inbox: deps.Inbox, channel: channel + ":gates", now: b.cfg.Now, retry: retry, logger: logger},
		now: b.cfg.Now, told: map[callID]int{}, poke: make(chan struct{}, 1), every: b.cfg.Limits.Progress, retry: retry, logger: logger,
	}
}

// Start verifies the token and begins to poll. An invalid token is an error; if Telegram is
// unreachable, it is retried in the background.
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
	// The bot runs until Stop, not until the caller's ctx ends.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	b.stop = stop
	b.work.Go(func() { b.run(work, me) })
	return nil
}

// Stop stops polling and waits for running work until ctx ends. The next Start resumes unfinished
// updates. It may be called again.
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
		b.stop = nil // it may be started again
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run polls until the bot is stopped.
func (b *Bot) run(ctx context.Context, me *models.User) {
	retry := b.intake.retry
	for wait := retry.first; me == nil; wait = retry.after(wait) {
		if sleep(ctx, wait) != nil {
			return
		}
		var err error
		if me, err = b.api.me(ctx); err != nil && ctx.Err() == nil {
			b.intake.complain(ctx, err)
		}
	}
	b.audience.name = me.Username
	b.cfg.Logger.InfoContext(ctx, "telegram bot is ready", slog.String("bot", me.Username), slog.Int("people", len(b.audience.people)))
	b.announce(ctx)
	b.box.tellGivenUp(ctx)
	defer b.follower.close()
	defer b.buttons.close()
	defer b.notifier.Listen(b.follower.changed)()
	defer b.notifier.Listen(b.buttons.changed)()
	b.buttons.begin(ctx)
	b.intake.resume(ctx)
	if len(b.caller.chats) > 0 {
		defer b.notifier.Listen(b.caller.changed)()
		b.work.Go(func() { b.caller.run(ctx) })
	}
	b.intake.poll(ctx)
}

// announce registers the commands, which Telegram shows in its menu.
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
