package acp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"davit"
)

// How an option is set, in davit.AgentOption.Via.
const (
	viaMode   = "mode"
	viaModel  = "model"
	viaConfig = "config"
)

// cap notes that more was offered than is kept; only the newest note of a noun stays.
func (v *View) cap(noun string, kept, offered int) {
	v.Capped = slices.DeleteFunc(slices.Clone(v.Capped), func(s string) bool { return strings.HasSuffix(s, " "+noun) })
	if offered > kept {
		v.Capped = append(v.Capped, fmt.Sprintf("%d of %d %s", kept, offered, noun))
	}
}

// commands takes the agent's slash commands.
func (c *Conversation) commands(s *Step, o *object, raw json.RawMessage) {
	list, ok := get[[]json.RawMessage](o, "availableCommands")
	if !ok {
		c.unknown(s, "commands that cannot be read", raw)
		return
	}
	commands := []davit.AgentSlash{}
	for _, raw := range list[:min(len(list), maxCommands)] {
		one, ok := readObject(raw)
		if !ok {
			continue
		}
		slash := davit.AgentSlash{Name: strings.TrimPrefix(word(one, "name", maxName), "/"), Description: word(one, "description", maxName)}
		if input, ok := readObject(one.fields["input"]); ok {
			slash.Hint = word(input, "hint", maxName)
		}
		if slash.Name != "" {
			commands = append(commands, slash)
		}
	}
	c.view.Commands = commands
	c.view.cap("commands", len(commands), len(list))
	s.View = true
}

func (c *Conversation) sessionInfo(s *Step, o *object) {
	if raw, ok := o.fields["title"]; ok {
		title := strings.TrimSpace(word(o, "title", maxName))
		if title != "" || isNull(raw) {
			s.View = c.view.Title != title
			c.view.Title = title
		}
	}
}

func (c *Conversation) usage(s *Step, o *object) {
	u := davit.AgentUsage{Used: whole(o, "used"), Size: whole(o, "size")}
	if c.view.Usage != nil {
		u.Cost, u.Currency = c.view.Usage.Cost, c.view.Usage.Currency
	}
	if cost, ok := readObject(o.fields["cost"]); ok {
		if amount, ok := get[float64](cost, "amount"); ok && amount >= 0 {
			u.Cost, u.Currency = amount, word(cost, "currency", 20)
		}
	}
	s.View = c.view.Usage == nil || *c.view.Usage != u
	c.view.Usage = &u
}

// currentMode takes the agent's own change of its mode, and says so in the journal.
func (c *Conversation) currentMode(s *Step, o *object, raw json.RawMessage) {
	value, ok := get[string](o, "currentModeId")
	if !ok || value == "" || len(value) > maxName {
		c.unknown(s, "a mode that cannot be read", raw)
		return
	}
	at := slices.IndexFunc(c.view.Options, func(o davit.AgentOption) bool { return o.Category == "mode" })
	if at < 0 {
		c.unknown(s, "a change to the mode "+value+", of which it offered none", raw)
		return
	}
	if c.view.Options[at].Value == value {
		return
	}
	c.choose(at, value)
	s.View = true
	c.lifecycle(s, "option", c.view.Options[at].Name+": "+nameOf(c.view.Options[at], value), nil)
}

// choose sets an option's value, in a copy.
func (c *Conversation) choose(at int, value string) {
	c.view.Options = slices.Clone(c.view.Options)
	c.view.Options[at].Value = value
}

func nameOf(o davit.AgentOption, value string) string {
	for _, choice := range o.Choices {
		if choice.ID == value {
			return choice.Name
		}
	}
	return value
}

func (c *Conversation) configOptions(s *Step, o *object, raw json.RawMessage) {
	if _, ok := get[[]json.RawMessage](o, "configOptions"); !ok {
		c.unknown(s, "options that cannot be read", raw)
		return
	}
	s.View = c.takeOptions(o)
}

// takeOptions takes the pickers of an answer or update: config options, which replace modes
// and models of the same category. False when it has none of them.
func (c *Conversation) takeOptions(o *object) bool {
	list, config := get[[]json.RawMessage](o, "configOptions")
	var options []davit.AgentOption
	skipped := 0
	for _, raw := range list {
		one, ok := c.configOption(raw)
		if !ok || len(options) == maxOptions {
			skipped++
			continue
		}
		options = append(options, one)
	}
	mode, hasMode := c.legacy(o.fields["modes"], "currentModeId", "availableModes", "id", davit.AgentOption{ID: "mode", Name: "Mode", Category: "mode", Via: viaMode})
	model, hasModel := c.legacy(o.fields["models"], "currentModelId", "availableModels", "modelId", davit.AgentOption{ID: "model", Name: "Model", Category: "model", Via: viaModel})
	if !config && !hasMode && !hasModel {
		return false
	}
	if config && !hasMode && !hasModel && o.fields["sessionUpdate"] != nil {
		// An update of the config options says nothing of the older kinds.
		for _, old := range c.view.Options {
			if old.Via != viaConfig && !hasCategory(options, old.Category) {
				options = append(options, old)
			}
		}
	}
	if hasMode && !hasCategory(options, "mode") {
		options = append(options, mode)
	}
	if hasModel && !hasCategory(options, "model") {
		options = append(options, model)
	}
	c.view.Options = options
	c.view.cap("options", len(list)-skipped, len(list))
	return true
}

func hasCategory(options []davit.AgentOption, category string) bool {
	return slices.ContainsFunc(options, func(o davit.AgentOption) bool { return o.Category == category })
}

// configOption reads one picker; only those with a list of choices are known.
func (c *Conversation) configOption(raw json.RawMessage) (davit.AgentOption, bool) {
	o, ok := readObject(raw)
	if !ok {
		return davit.AgentOption{}, false
	}
	id, _ := get[string](o, "id")
	value, ok := get[string](o, "currentValue")
	if kind := word(o, "type", 100); id == "" || len(id) > maxName || !ok || kind != "select" && kind != "" {
		return davit.AgentOption{}, false
	}
	option := davit.AgentOption{ID: id, Name: word(o, "name", maxName), Value: value, Category: category(word(o, "category", 100)), Via: viaConfig}
	if option.Name == "" {
		option.Name = id
	}
	list, _ := get[[]json.RawMessage](o, "options")
	var flat []json.RawMessage
	for _, raw := range list { // a list of choices, or of groups of them
		if group, ok := readObject(raw); ok && group.fields["group"] != nil {
			inner, _ := get[[]json.RawMessage](group, "options")
			flat = append(flat, inner...)
		} else {
			flat = append(flat, raw)
		}
	}
	c.choices(&option, flat, "value")
	return option, true
}

func category(word string) string {
	switch word {
	case "mode", "model":
		return word
	case "thought_level":
		return "effort"
	}
	return "other"
}

// legacy reads modes or models, which were there before config options.
func (c *Conversation) legacy(raw json.RawMessage, current, available, id string, option davit.AgentOption) (davit.AgentOption, bool) {
	o, ok := readObject(raw)
	if !ok {
		return option, false
	}
	list, ok := get[[]json.RawMessage](o, available)
	if !ok {
		return option, false
	}
	option.Value, _ = get[string](o, current)
	c.choices(&option, list, id)
	return option, true
}

// choices fills in an option's choices; the current one is kept whatever the limit.
func (c *Conversation) choices(option *davit.AgentOption, list []json.RawMessage, id string) {
	option.Choices = []davit.AgentChoice{}
	for _, raw := range list {
		o, ok := readObject(raw)
		if !ok {
			continue
		}
		value, _ := get[string](o, id)
		if value == "" || len(value) > maxName || len(option.Choices) >= maxChoices && value != option.Value {
			continue
		}
		choice := davit.AgentChoice{ID: value, Name: word(o, "name", maxName), Description: word(o, "description", maxName)}
		if choice.Name == "" {
			choice.Name = value
		}
		option.Choices = append(option.Choices, choice)
	}
	c.view.cap("choices of "+option.Name, len(option.Choices), len(list))
}
