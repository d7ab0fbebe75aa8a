package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/internal/app"
)

// telegramOptions is the configuration of the Telegram bot.
type telegramOptions struct {
	Token  string   `json:"token,omitempty"`
	Users  []string `json:"users,omitempty"`
	Groups []string `json:"groups,omitempty"`
	API    string   `json:"api_url,omitempty"`
	// Approvers are the chats that are notified of gates.
	Approvers []string `json:"approver_chats,omitempty"`
}

func (o *telegramOptions) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.Token, "telegram-token", "", "token of a Telegram bot, as env:NAME")
	flags.StringSliceVar(&o.Users, "telegram-users", nil, "who may use the bot, by Telegram user id, as 4711=rita:viewer+operator")
	flags.StringSliceVar(&o.Groups, "telegram-groups", nil, "ids of the groups that the bot answers in")
	flags.StringSliceVar(&o.Approvers, "telegram-approver-chats", nil, "ids of the people and groups that are told of gates that others have opened")
	flags.StringVar(&o.API, "telegram-api-url", "", "where the Bot API is, if not at Telegram")
}

// config returns the bot's configuration, with the token from the environment.
func (o *telegramOptions) config(lookup func(string) (string, bool)) (app.Telegram, error) {
	out := app.Telegram{APIURL: o.API, People: map[int64]app.TelegramPerson{}}
	if o.Token == "" {
		if len(o.Users) > 0 || len(o.Groups) > 0 || len(o.Approvers) > 0 || o.API != "" {
			return out, usagef("the other --telegram flags need --telegram-token")
		}
		return out, nil
	}
	name, ok := strings.CutPrefix(o.Token, "env:")
	token, found := lookup(name)
	if !ok || !found {
		return out, usagef("--telegram-token must be env:NAME, and the variable must be set")
	}
	out.Token = strings.TrimSpace(token)
	for _, user := range o.Users {
		id, who, named := strings.Cut(user, "=")
		n, err := strconv.ParseInt(strings.TrimSpace(id), 10, 64)
		person, roles, both := strings.Cut(who, ":")
		if err != nil || !named || !both {
			return out, usagef("--telegram-users must be ID=NAME:ROLE+ROLE, not %s", user)
		}
		if _, twice := out.People[n]; twice {
			return out, usagef("--telegram-users names %d twice; a Telegram user is one person", n)
		}
		out.People[n] = app.TelegramPerson{Name: person, Roles: strings.Split(roles, "+")}
	}
	var err error
	if out.Groups, err = chatIDs("--telegram-groups", o.Groups); err != nil {
		return out, err
	}
	out.Approvers, err = chatIDs("--telegram-approver-chats", o.Approvers)
	return out, err
}

func chatIDs(flag string, ids []string) ([]int64, error) {
	var out []int64
	for _, id := range ids {
		n, err := strconv.ParseInt(strings.TrimSpace(id), 10, 64)
		if err != nil {
			return nil, usagef("%s must be numbers, not %q", flag, id)
		}
		out = append(out, n)
	}
	return out, nil
}
