// franz-go.
package main

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"clients/lines"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

var strategies = map[string]func() kgo.GroupBalancer{
	"range":       kgo.RangeBalancer,
	"roundrobin":  kgo.RoundRobinBalancer,
	"sticky":      kgo.StickyBalancer,
	"cooperative": kgo.CooperativeStickyBalancer,
}

type program struct {
	told     lines.Connection
	consumer *kgo.Client
	// Set when records are copied in transactions; it owns the consumer then.
	transformer *kgo.GroupTransactSession
	options     lines.Command
	pause       chan time.Duration
	commits     chan struct{}
}

func main() {
	p := &program{told: lines.Told(), pause: make(chan time.Duration, 10), commits: make(chan struct{}, 10)}
	lines.EmitReady("franz-go", "github.com/twmb/franz-go")
	lines.Run(p.obey)
}

func (p *program) obey(command lines.Command) error {
	switch command.Do {
	case "create_topic":
		return p.createTopic(command)
	case "metadata":
		return p.metadata()
	case "produce":
		return p.produce(command)
	case "transact":
		return p.transact(command)
	case "subscribe":
		return p.subscribe(command)
	case "commit":
		p.commits <- struct{}{}
		return nil
	case "rejoin":
		p.consumer.ForceRebalance()
		return nil
	case "stall":
		p.pause <- lines.Milliseconds(command.StallMs, 0)
		return nil
	case "close":
		p.close()
	}
	return fmt.Errorf("unknown command %s", command.Do)
}

func (p *program) close() {
	if p.transformer != nil {
		p.transformer.Close()
	} else if p.consumer != nil {
		p.consumer.Close()
	}
	lines.Close()
}

func (p *program) settings(more ...kgo.Opt) []kgo.Opt {
	said := []kgo.Opt{
		kgo.SeedBrokers(p.told.Brokers()...), kgo.ClientID(p.told.Name), kgo.MetadataMaxAge(2 * time.Second),
		kgo.MetadataMinAge(250 * time.Millisecond),
	}
	if tls := p.told.TLSConfig(); tls != nil {
		said = append(said, kgo.DialTLSConfig(tls))
	}
	if told := p.told.SASL; told != nil {
		switch told.Mechanism {
		case "PLAIN":
			said = append(said, kgo.SASL(plain.Auth{User: told.User, Pass: told.Password}.AsMechanism()))
		case "SCRAM-SHA-256":
			said = append(said, kgo.SASL(scram.Auth{User: told.User, Pass: told.Password}.AsSha256Mechanism()))
		case "SCRAM-SHA-512":
			said = append(said, kgo.SASL(scram.Auth{User: told.User, Pass: told.Password}.AsSha512Mechanism()))
		case "OAUTHBEARER":
			said = append(said, kgo.SASL(oauth.Auth{Token: told.UnsecuredToken()}.AsMechanism()))
		}
	}
	return append(said, more...)
}

// with makes a client for one piece of work.
func (p *program) with(work func(*kgo.Client) error, more ...kgo.Opt) error {
	client, err := kgo.NewClient(p.settings(more...)...)
	if err != nil {
		return err
	}
	defer client.Close()
	return work(client)
}

func (p *program) createTopic(command lines.Command) error {
	return p.with(func(client *kgo.Client) error {
		answer, err := kadm.NewClient(client).CreateTopic(
			context.Background(), int32(command.Partitions), int16(command.Replication), nil, command.Topic,
		)
		if err == nil {
			err = answer.Err
		}
		if err == nil {
			lines.Emit("topic_created", lines.Fields{"topic": command.Topic})
		}
		return err
	})
}

func (p *program) metadata() error {
	return p.with(func(client *kgo.Client) error {
		found, err := kadm.NewClient(client).ListBrokers(context.Background())
		brokers := []any{}
		for _, broker := range found {
			brokers = append(brokers, []any{broker.NodeID, net.JoinHostPort(broker.Host, strconv.Itoa(int(broker.Port)))})
		}
		if err == nil {
			lines.Emit("metadata", lines.Fields{"brokers": brokers})
		}
		return err
	})
}

func (p *program) produce(command lines.Command) error {
	return p.with(func(client *kgo.Client) error {
		err := client.ProduceSync(context.Background(), records(command.Topic, command.Numbers())...).FirstErr()
		if err == nil {
			lines.Emit("produced", lines.Fields{"topic": command.Topic, "count": command.Count})
		}
		return err
	})
}

func (p *program) transact(command lines.Command) error {
	return p.with(func(client *kgo.Client) error {
		if err := client.BeginTransaction(); err != nil {
			return err
		}
		sent := client.ProduceSync(context.Background(), records(command.Topic, command.Numbers())...)
		if err := sent.FirstErr(); err != nil {
			return err
		}
		err := client.EndTransaction(context.Background(), kgo.TransactionEndTry(!command.Abort))
		if err == nil {
			said := lines.Fields{"topic": command.Topic, "count": command.Count, "aborted": command.Abort}
			lines.Emit("transacted", said)
		}
		return err
	}, kgo.TransactionalID(command.TransactionalID))
}

func records(topic string, values []string) []*kgo.Record {
	made := []*kgo.Record{}
	for _, value := range values {
		made = append(made, &kgo.Record{Topic: topic, Key: []byte(value), Value: []byte(value)})
	}
	return made
}

func (p *program) subscribe(command lines.Command) error {
	p.options = command
	said := p.settings(
		kgo.ConsumerGroup(command.Group),
		kgo.ConsumeTopics(command.Topics...),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.FetchMaxWait(500*time.Millisecond),
		kgo.SessionTimeout(lines.Milliseconds(command.SessionTimeoutMs, 45*time.Second)),
		kgo.HeartbeatInterval(lines.Milliseconds(command.HeartbeatIntervalMs, 3*time.Second)),
		kgo.RebalanceTimeout(lines.Milliseconds(command.MaxPollIntervalMs, 60*time.Second)),
		kgo.OnPartitionsAssigned(told("assigned")),
		kgo.OnPartitionsLost(told("lost")),
		kgo.OnPartitionsRevoked(p.revoked),
	)
	if strategy, known := strategies[command.Strategy]; known {
		said = append(said, kgo.Balancers(strategy()))
	}
	if command.Protocol == "consumer" {
		said = append(said, native()...)
	}
	if command.InstanceID != "" {
		said = append(said, kgo.InstanceID(command.InstanceID))
	}
	return p.begin(said)
}

func (p *program) begin(said []kgo.Opt) (err error) {
	switch {
	case p.options.Transform != nil:
		said = append(said, kgo.TransactionalID(p.options.Transform.TransactionalID), kgo.RequireStableFetchOffsets())
		if p.transformer, err = kgo.NewGroupTransactSession(said...); err == nil {
			p.consumer = p.transformer.Client()
		}
	case p.options.Commit == "auto":
		p.consumer, err = kgo.NewClient(append(said, kgo.AutoCommitInterval(500*time.Millisecond))...)
	case p.options.Commit == "default":
		p.consumer, err = kgo.NewClient(said...)
	default:
		p.consumer, err = kgo.NewClient(append(said, kgo.DisableAutoCommit())...)
	}
	if err == nil {
		go p.poll()
	}
	return err
}

func told(event string) func(context.Context, *kgo.Client, map[string][]int32) {
	return func(_ context.Context, _ *kgo.Client, listed map[string][]int32) {
		lines.Emit(event, lines.Fields{"partitions": listing(listed)})
	}
}

func (p *program) revoked(_ context.Context, _ *kgo.Client, listed map[string][]int32) {
	lines.Emit("revoking", lines.Fields{"partitions": listing(listed)})
	time.Sleep(lines.Milliseconds(p.options.RevokeMs, 0))
	lines.Emit("revoked", lines.Fields{"partitions": listing(listed)})
}

func listing(listed map[string][]int32) []lines.Partition {
	all := []lines.Partition{}
	for topic, partitions := range listed {
		for _, partition := range partitions {
			all = append(all, lines.Partition{topic, partition})
		}
	}
	return all
}

// poll is one goroutine, so that stalls and commits fall between polls as in an application.
func (p *program) poll() {
	for {
		select {
		case long := <-p.pause:
			time.Sleep(long)
		case <-p.commits:
			p.commit()
		default:
			p.pollOnce()
		}
	}
}

func (p *program) pollOnce() {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	fetches := p.consumer.PollFetches(ctx)
	fetches.EachError(func(topic string, partition int32, err error) {
		if ctx.Err() == nil {
			lines.EmitError(fmt.Errorf("%s-%d: %w", topic, partition, err))
		}
	})
	if fetches.NumRecords() == 0 {
		return
	}
	if p.transformer != nil && !p.transform(fetches) {
		return
	}
	read := []lines.Record{}
	fetches.EachRecord(func(r *kgo.Record) {
		read = append(read, lines.Record{r.Topic, r.Partition, r.Offset, string(r.Value)})
	})
	lines.Emit("records", lines.Fields{"records": read})
	if p.options.Commit == "each" {
		p.commit()
	}
}

// transform reports whether the transaction was committed; when not, the library has gone back to where it began.
func (p *program) transform(fetches kgo.Fetches) bool {
	if err := p.transformer.Begin(); err != nil {
		lines.EmitError(err)
		return false
	}
	values := []string{}
	fetches.EachRecord(func(record *kgo.Record) { values = append(values, string(record.Value)) })
	sent := p.transformer.ProduceSync(context.Background(), records(p.options.Transform.To, values)...)
	committed, err := p.transformer.End(context.Background(), kgo.TransactionEndTry(sent.FirstErr() == nil))
	if err != nil {
		lines.EmitError(err)
	}
	if committed {
		lines.Emit("transacted", lines.Fields{"count": len(values)})
	}
	return committed
}

func (p *program) commit() {
	offsets := []lines.Record{}
	for topic, partitions := range p.consumer.UncommittedOffsets() {
		for partition, place := range partitions {
			offsets = append(offsets, lines.Record{topic, partition, place.Offset})
		}
	}
	if err := p.consumer.CommitUncommittedOffsets(context.Background()); err != nil {
		lines.EmitError(err)
		return
	}
	lines.Emit("committed", lines.Fields{"offsets": offsets})
}
