package main

import (
	"bufio"
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

type askOptions struct {
	session, name, webhook, phase string

	instances  map[string]string
	dryRun     bool
	unattended bool
	noWait     bool
}

func askCommand(c *cli) *cobra.Command {
	var o askOptions
	cmd := &cobra.Command{
		Use: "ask WORDS…", Short: "Say what you want to be done", Args: counted(cobra.MinimumNArgs(1)),
		Long: `Starts a session with a sentence, or goes on with one, and shows the answer. It
ends with exit code 3 when a person has to decide or to answer first.`,
		Example: `  manifold ask compare the balances of Ana and Bruno
  manifold ask --session ses_… show the time off of Carla Mendes`,
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			return c.ask(ctx, server, o, strings.Join(args, " "))
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.session, "session", "", "go on with this session")
	flags.StringVar(&o.name, "name", "", "name of the session")
	flags.StringVar(&o.webhook, "webhook", "", "URL that is told when a person has to decide")
	flags.StringToStringVar(&o.instances, "instance", nil, "instance of a domain, as domain=instance")
	flags.BoolVar(&o.dryRun, "dry-run", false, "read, but only pretend to write")
	flags.BoolVar(&o.unattended, "unattended", false, "nobody will answer: steps that ask take the answer that they name for it, or fail")
	flags.StringVar(&o.phase, "phase", "", "use only what may be used in this phase, such as review")
	flags.BoolVar(&o.noWait, "no-wait", false, "do not wait for the answer")
	return cmd
}

func (c *cli) ask(ctx context.Context, server *client.Client, o askOptions, words string) error {
	after, err := c.lastEvent(ctx, server, o.session)
	if err != nil {
		return err
	}
	response, err := send(ctx, server, o, words)
	if err != nil {
		return err
	}
	if o.noWait {
		return c.show(response, func() {
			c.out.printf("%s is %s; see it with: manifold sessions show %s\n", response.SessionID, response.Status, response.SessionID)
		})
	}
	return c.follow(ctx, server, response, after)
}

func send(ctx context.Context, server *client.Client, o askOptions, words string) (contracts.SessionResponse, error) {
	if o.session != "" {
		if o.dryRun || o.name != "" || o.webhook != "" || o.phase != "" || len(o.instances) > 0 {
			return contracts.SessionResponse{}, usagef("--dry-run, --name, --webhook, --phase and --instance belong to the first message of a session")
		}
		return server.Say(ctx, o.session, words, client.Opt{})
	}
	return server.StartSession(ctx, contracts.StartSession{
		Message: words, Name: o.name, WebhookURL: o.webhook, Instances: o.instances, DryRun: o.dryRun, Unattended: o.unattended, Phase: o.phase,
	}, client.Opt{})
}

// lastEvent returns the sequence number after which the progress of a new message begins.
func (c *cli) lastEvent(ctx context.Context, server *client.Client, session string) (int64, error) {
	after := int64(0)
	for session != "" && c.live() {
		events, err := server.Events(ctx, session, after, 0)
		if err != nil || len(events) == 0 {
			return after, err
		}
		after = events[len(events)-1].Seq
	}
	return after, nil
}

// live reports whether progress is shown.
func (c *cli) live() bool { return !c.asJSON && terminal(c.errs.w) }

// follow waits for a session's answer, shows progress on a terminal, and lets the user answer
// questions.
func (c *cli) follow(ctx context.Context, server *client.Client, response contracts.SessionResponse, after int64) error {
	for {
		var err error
		if response, err = c.await(ctx, server, response.SessionID, after); err != nil {
			return err
		}
		answer, asked := c.askPerson(response)
		if !asked {
			return c.conclude(ctx, server, response)
		}
		if after, err = c.lastEvent(ctx, server, response.SessionID); err != nil {
			return err
		}
		if _, err := server.Answer(ctx, *response.Interrupt, answer, client.Opt{}); err != nil {
			return err
		}
	}
}

// await waits until the session is no longer running.
func (c *cli) await(ctx context.Context, server *client.Client, id string, after int64) (contracts.SessionResponse, error) {
	if !c.live() {
		return server.AwaitSession(ctx, id)
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	shown := make(chan int64, 1)
	go func() {
		for e, err := range server.Stream(watching, id, after) {
			if err != nil {
				break
			}
			c.errs.event(e)
			after = e.Seq
		}
		shown <- after
	}()
	response, err := server.AwaitSession(ctx, id)
	stop()
	if after = <-shown; err != nil {
		return response, err
	}
	rest, err := server.Events(ctx, id, after, 0) // events since the stream was stopped
	for _, e := range rest {
		c.errs.event(e)
	}
	return response, err
}

// askPerson asks the user at the terminal. Gates must be decided explicitly and are not asked.
func (c *cli) askPerson(response contracts.SessionResponse) (string, bool) {
	i := response.Interrupt
	if i == nil || i.Type != contracts.InterruptClarification || c.asJSON || !terminal(c.stdin) || !terminal(c.out.w) {
		return "", false
	}
	c.out.question(*i)
	c.out.printf("> ")
	line, err := bufio.NewReader(c.stdin).ReadString('\n')
	if line = strings.TrimSpace(line); err != nil || line == "" {
		return "", false
	}
	return line, true
}

// conclude shows the state of a session and returns its exit code.
func (c *cli) conclude(ctx context.Context, server *client.Client, response contracts.SessionResponse) error {
	if err := c.show(response, func() { c.out.session(response) }); err != nil {
		return err
	}
	switch response.Status {
	case contracts.SessionPendingInterrupt:
		return ended(exitWaiting)
	case contracts.SessionError:
		return ended(exitFailed)
	case contracts.SessionRunning:
		return nil
	case contracts.SessionCompleted:
	}
	a := response.Answer
	if len(response.RunIDs) == 0 {
		return refusal(a)
	}
	view, err := server.Run(ctx, response.RunIDs[len(response.RunIDs)-1], client.Opt{})
	if err != nil {
		return err
	}
	if a != nil && a.Verdict == nil && !reflect.DeepEqual(a, view.Answer) { // the last message led to no run
		return refusal(a)
	}
	return stateCode(view.State)
}

// refusal returns the exit code for an error if the message led to no run, because the request is
// impossible.
func refusal(a *contracts.Answer) error {
	if a == nil || !slices.ContainsFunc(a.Blocks, func(b contracts.Block) bool { return b.Kind == contracts.BlockError }) {
		return nil
	}
	return ended(exitError)
}

// stateCode returns the exit code for the state of a run.
func stateCode(state contracts.RunState) error {
	switch state {
	case contracts.RunWaiting:
		return ended(exitWaiting)
	case contracts.RunFailed, contracts.RunRejected, contracts.RunCancelled:
		return ended(exitFailed)
	case contracts.RunRunning, contracts.RunCancelling, contracts.RunDegraded, contracts.RunCompleted:
	}
	return nil
}

// session prints the answer and all open interrupts.
func (p printer) session(r contracts.SessionResponse) {
	p.answer(r.Answer)
	for _, i := range r.Interrupts {
		p.question(i)
		p.hint(i)
	}
	if len(r.Interrupts) > 0 || r.Status == contracts.SessionRunning {
		p.printf("\nsession %s is %s\n", r.SessionID, strings.ReplaceAll(string(r.Status), "_", " "))
	}
}

// event prints one line of progress.
func (p printer) event(e contracts.Event) {
	name := e.NodeName
	if name == "" {
		name = e.NodeID
	}
	switch e.Type {
	case contracts.EventNodeStart:
		p.printf("  · %s\n", oneLine(name))
	case contracts.EventNodeEnd:
		p.printf("  ✓ %s%s\n", oneLine(name), after(": ", oneLine(e.Summary)))
	case contracts.EventNodeError:
		p.printf("  ✗ %s%s\n", oneLine(name), after(": ", oneLine(e.Summary)))
	case contracts.EventInterrupt:
		p.printf("  ? %s\n", oneLine(e.Summary))
	case contracts.EventProgress:
		p.printf("  … %s%s\n", oneLine(name), after(": ", oneLine(e.Summary)))
	case contracts.EventInterruptResolved:
		p.printf("  = %s\n", oneLine(e.Summary))
	case contracts.EventToolCallStart, contracts.EventToolCallEnd, contracts.EventExpand, contracts.EventVerdict, contracts.EventDone:
	}
}

func after(mark, s string) string {
	if s == "" {
		return ""
	}
	return mark + s
}
