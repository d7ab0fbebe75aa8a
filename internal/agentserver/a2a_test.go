package agentserver_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
)

// peer is another agent, with the client of the protocol's own library.
type peer struct {
	*testing.T

	client *a2aclient.Client
}

// meets resolves the card like a client of a version, and connects to the endpoint in it.
func (s site) meets(t *testing.T, key, version string) peer {
	t.Helper()
	resolver := agentcard.NewResolver(http.DefaultClient)
	speaks := a2aclient.WithJSONRPCTransport(&http.Client{Transport: bearer(key)})
	if version == string(a2av0.Version) {
		resolver.CardParser = a2av0.NewAgentCardParser()
		speaks = a2av0.WithJSONRPCTransport(a2av0.JSONRPCTransportConfig{Client: &http.Client{Transport: bearer(key)}})
	}
	card, err := resolver.Resolve(t.Context(), s.URL())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range card.SupportedInterfaces {
		if string(i.ProtocolVersion) == version {
			card.SupportedInterfaces = []*a2a.AgentInterface{i}
		}
	}
	if len(card.SupportedInterfaces) != 1 {
		t.Fatalf("no interface of %s: %+v", version, card.SupportedInterfaces)
	}
	c, err := a2aclient.NewFromCard(t.Context(), card, a2aclient.WithDefaultsDisabled(), speaks)
	if err != nil {
		t.Fatal(err)
	}
	return peer{t, c}
}

// says sends a message and returns its task.
func (p peer) says(words string, of *a2a.Task) *a2a.Task {
	p.Helper()
	m := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(words))
	if of != nil {
		m.TaskID, m.ContextID = of.ID, of.ContextID
	}
	result, err := p.client.SendMessage(p.Context(), &a2a.SendMessageRequest{Message: m})
	task, ok := result.(*a2a.Task)
	if err != nil || !ok {
		p.Fatalf("%q: %v %+v", words, err, result)
	}
	return task
}

func (p peer) looks(of *a2a.Task) *a2a.Task {
	p.Helper()
	task, err := p.client.GetTask(p.Context(), &a2a.GetTaskRequest{ID: of.ID})
	if err != nil {
		p.Fatal(err)
	}
	return task
}

// told returns all text of a task.
func told(task *a2a.Task) string {
	var out strings.Builder
	if task.Status.Message != nil {
		for _, part := range task.Status.Message.Parts {
			out.WriteString(part.Text())
		}
	}
	for _, artifact := range task.Artifacts {
		for _, part := range artifact.Parts {
			out.WriteString(part.Text())
		}
	}
	return out.String()
}

// TestAnotherAgentAsksInEveryVersion of the protocol: a read is answered, and a write waits for a
// person, whatever the agent says.
func TestAnotherAgentAsksInEveryVersion(t *testing.T) {
	t.Parallel()
	s := start(t)
	key := s.keyOf(t, "ana", "operator")
	for _, version := range []string{string(a2a.Version), string(a2av0.Version)} {
		p := s.meets(t, key, version)
		read := p.says("what is the price of Apple?", nil)
		if read.Status.State != a2a.TaskStateCompleted || !strings.Contains(told(read), "AAPL") || len(read.Artifacts) != 2 {
			t.Errorf("%s: %s %q", version, read.Status.State, told(read))
		}
		write := p.says("set a price alert for AAPL above 500", nil)
		codes, _ := write.Metadata["gates"].([]any)
		if write.Status.State != a2a.TaskStateAuthRequired || len(codes) != 1 || !strings.Contains(told(write), codes[0].(string)) {
			t.Fatalf("%s: %s %q %v", version, write.Status.State, told(write), write.Metadata)
		}
		for _, words := range []string{"approve", "yes, approve it", "approve " + codes[0].(string)} {
			p.says(words, write)
		}
		if now := p.looks(write); now.Status.State != a2a.TaskStateAuthRequired {
			t.Fatalf("%s: the gate was decided: %s", version, now.Status.State)
		}
		run := write.Metadata["run_id"].(string)
		s.approve(t, run)
		if _, err := s.admin.AwaitSession(t.Context(), string(write.ID)); err != nil {
			t.Fatal(err)
		}
		if now := p.looks(write); now.Status.State != a2a.TaskStateCompleted || !strings.Contains(told(now), "500") {
			t.Errorf("%s: %s %q", version, now.Status.State, told(now))
		}
	}
}

// TestAMessageThatIsSentAgainIsTheSameTask: a client that has lost the response sends the message
// again.
func TestAMessageThatIsSentAgainIsTheSameTask(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := s.meets(t, s.keyOf(t, "ana", "operator"), string(a2a.Version))
	message := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("set a price alert for AAPL above 500"))
	var tasks []a2a.TaskID
	for range 2 {
		result, err := p.client.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: message})
		if err != nil {
			t.Fatal(err)
		}
		task, ok := result.(*a2a.Task)
		if !ok {
			t.Fatalf("no task: %+v", result)
		}
		tasks = append(tasks, task.ID)
	}
	if tasks[0] != tasks[1] {
		t.Errorf("two tasks of one message: %v", tasks)
	}
}

// TestATaskIsCanceledOnce, and one that has ended cannot be.
func TestATaskIsCanceledOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := s.meets(t, s.keyOf(t, "ana", "operator"), string(a2a.Version))
	write := p.says("set a price alert for AAPL above 500", nil)
	if _, err := p.client.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: write.ID}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.admin.AwaitSession(t.Context(), string(write.ID)); err != nil {
		t.Fatal(err)
	}
	if now := p.looks(write); now.Status.State != a2a.TaskStateCanceled {
		t.Errorf("%s %q", now.Status.State, told(now))
	}
	if _, err := p.client.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: write.ID}); !errors.Is(err, a2a.ErrTaskNotCancelable) {
		t.Errorf("a second time: %v", err)
	}
}

// TestAnotherAgentSeesWhatItsKeyDoes: no task of others, and nothing without a key.
func TestAnotherAgentSeesWhatItsKeyDoes(t *testing.T) {
	t.Parallel()
	s := start(t)
	ana, ben := s.meets(t, s.keyOf(t, "ana", "operator"), string(a2a.Version)), s.meets(t, s.keyOf(t, "ben", "requester"), string(a2a.Version))
	task := ana.says("what is the price of Apple?", nil)
	if _, err := ben.client.GetTask(t.Context(), &a2a.GetTaskRequest{ID: task.ID}); !errors.Is(err, a2a.ErrTaskNotFound) {
		t.Errorf("the task of another: %v", err)
	}
	picture := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewRawPart([]byte("GIF89a")))
	if _, err := ana.client.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: picture}); !errors.Is(err, a2a.ErrUnsupportedContentType) {
		t.Errorf("a picture: %v", err)
	}
	card, err := ana.client.GetExtendedAgentCard(t.Context(), &a2a.GetExtendedAgentCardRequest{})
	if err != nil || len(card.Skills) < 3 {
		t.Errorf("the card for a caller: %v %+v", err, card)
	}
	for _, path := range []string{"/a2a", "/a2a/v0.3"} {
		res, err := http.Post(s.URL()+path, "application/json", strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized || res.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s without a key: %s", path, res.Status)
		}
	}
}
