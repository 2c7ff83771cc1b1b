package main

import (
	"clients/lines"

	"github.com/IBM/sarama"
	"github.com/xdg-go/scram"
)

func (p *program) authenticate(config *sarama.Config) {
	told := p.told.SASL
	config.Net.SASL.Enable = true
	config.Net.SASL.Mechanism = sarama.SASLMechanism(told.Mechanism)
	config.Net.SASL.User, config.Net.SASL.Password = told.User, told.Password
	config.Net.SASL.TokenProvider = tokens{told}
	config.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient {
		return &conversation{hash: map[string]scram.HashGeneratorFcn{
			"SCRAM-SHA-256": scram.SHA256,
			"SCRAM-SHA-512": scram.SHA512,
		}[told.Mechanism]}
	}
}

type tokens struct{ told *lines.SASL }

func (t tokens) Token() (*sarama.AccessToken, error) {
	return &sarama.AccessToken{Token: t.told.UnsecuredToken()}, nil
}

type conversation struct {
	*scram.ClientConversation
	hash scram.HashGeneratorFcn
}

func (c *conversation) Begin(user, password, authorization string) error {
	client, err := c.hash.NewClient(user, password, authorization)
	if err == nil {
		c.ClientConversation = client.NewConversation()
	}
	return err
}
