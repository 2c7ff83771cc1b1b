// sarama, the consumer group of IBM (once Shopify).
package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"clients/lines"

	"github.com/IBM/sarama"
)

var strategies = map[string]func() sarama.BalanceStrategy{
	"range":      sarama.NewBalanceStrategyRange,
	"roundrobin": sarama.NewBalanceStrategyRoundRobin,
	"sticky":     sarama.NewBalanceStrategySticky,
}

// A session outlives its rebalances then, and only its claims come and go.
const cooperative = "cooperative"

type program struct {
	told        lines.Connection
	group       sarama.ConsumerGroup
	transformer sarama.SyncProducer
	options     lines.Command

	lock    sync.Mutex
	session sarama.ConsumerGroupSession
	// How far the application has read, by topic and partition.
	places  map[lines.Partition]int64
	stalled time.Time
}

func main() {
	p := &program{told: lines.Told(), places: map[lines.Partition]int64{}}
	lines.EmitReady("sarama", "github.com/IBM/sarama")
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
		return p.commit()
	case "stall":
		p.lock.Lock()
		defer p.lock.Unlock()
		p.stalled = time.Now().Add(lines.Milliseconds(command.StallMs, 0))
		return nil
	case "close":
		if p.group != nil {
			if err := p.group.Close(); err != nil {
				lines.EmitError(err)
			}
		}
		lines.Close()
	}
	return fmt.Errorf("unknown command %s", command.Do)
}

func (p *program) config() *sarama.Config {
	config := sarama.NewConfig()
	config.ClientID = p.told.Name
	config.Version = sarama.V2_8_0_0
	config.Metadata.RefreshFrequency = 2 * time.Second
	if tls := p.told.TLSConfig(); tls != nil {
		config.Net.TLS.Enable, config.Net.TLS.Config = true, tls
	}
	if p.told.SASL != nil {
		p.authenticate(config)
	}
	return config
}

// producing is idempotent, for which sarama wants one request in flight.
func (p *program) producing() *sarama.Config {
	config := p.config()
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Return.Successes = true
	config.Producer.Idempotent = true
	config.Net.MaxOpenRequests = 1
	return config
}

func (p *program) createTopic(command lines.Command) error {
	admin, err := sarama.NewClusterAdmin(p.told.Brokers(), p.config())
	if err != nil {
		return err
	}
	defer admin.Close()
	detail := &sarama.TopicDetail{NumPartitions: int32(command.Partitions), ReplicationFactor: int16(command.Replication)}
	if err := admin.CreateTopic(command.Topic, detail, false); err != nil {
		return err
	}
	lines.Emit("topic_created", lines.Fields{"topic": command.Topic})
	return nil
}

func (p *program) metadata() error {
	client, err := sarama.NewClient(p.told.Brokers(), p.config())
	if err != nil {
		return err
	}
	defer client.Close()
	brokers := []any{}
	for _, broker := range client.Brokers() {
		brokers = append(brokers, []any{broker.ID(), broker.Addr()})
	}
	lines.Emit("metadata", lines.Fields{"brokers": brokers})
	return nil
}

func (p *program) produce(command lines.Command) error {
	producer, err := sarama.NewSyncProducer(p.told.Brokers(), p.producing())
	if err != nil {
		return err
	}
	defer producer.Close()
	if err := send(producer, command.Topic, command.Numbers()); err != nil {
		return err
	}
	lines.Emit("produced", lines.Fields{"topic": command.Topic, "count": command.Count})
	return nil
}

func (p *program) transact(command lines.Command) error {
	producer, err := p.transactional(command.TransactionalID)
	if err != nil {
		return err
	}
	defer producer.Close()
	if err := producer.BeginTxn(); err != nil {
		return err
	}
	if err := send(producer, command.Topic, command.Numbers()); err != nil {
		return err
	}
	end := producer.CommitTxn
	if command.Abort {
		end = producer.AbortTxn
	}
	if err := end(); err != nil {
		return err
	}
	lines.Emit("transacted", lines.Fields{"topic": command.Topic, "count": command.Count, "aborted": command.Abort})
	return nil
}

func (p *program) transactional(id string) (sarama.SyncProducer, error) {
	config := p.producing()
	config.Producer.Transaction.ID = id
	return sarama.NewSyncProducer(p.told.Brokers(), config)
}

// send says why messages were not delivered; sarama only counts them.
func send(producer sarama.SyncProducer, topic string, values []string) error {
	messages := []*sarama.ProducerMessage{}
	for _, value := range values {
		encoded := sarama.StringEncoder(value)
		messages = append(messages, &sarama.ProducerMessage{Topic: topic, Key: encoded, Value: encoded})
	}
	err := producer.SendMessages(messages)
	var failed sarama.ProducerErrors
	if errors.As(err, &failed) {
		for _, each := range failed {
			err = errors.Join(err, each)
		}
	}
	return err
}

func (p *program) subscribe(command lines.Command) error {
	p.options = command
	config := p.config()
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = command.Commit == "auto" || command.Commit == "default"
	if command.Commit == "auto" {
		config.Consumer.Offsets.AutoCommit.Interval = 500 * time.Millisecond
	}
	config.Consumer.IsolationLevel = sarama.ReadCommitted
	config.Consumer.Return.Errors = true
	config.Consumer.Group.InstanceId = command.InstanceID
	config.Consumer.Group.Session.Timeout = lines.Milliseconds(command.SessionTimeoutMs, 10*time.Second)
	config.Consumer.Group.Heartbeat.Interval = lines.Milliseconds(command.HeartbeatIntervalMs, 3*time.Second)
	config.Consumer.Group.Rebalance.Timeout = lines.Milliseconds(command.MaxPollIntervalMs, 60*time.Second)
	if strategy, known := strategies[command.Strategy]; known {
		config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{strategy()}
	}
	if command.Strategy == cooperative {
		// Only since 3.2 a member says of which generation that is which it holds. Eager ones say what is sarama's default.
		config.Version = sarama.MaxVersion
	}
	var err error
	if command.Transform != nil {
		if p.transformer, err = p.transactional(command.Transform.TransactionalID); err != nil {
			return err
		}
	}
	if p.group, err = sarama.NewConsumerGroup(p.told.Brokers(), command.Group, config); err != nil {
		return err
	}
	go p.consume()
	return nil
}

// consume joins again whenever a session has ended.
func (p *program) consume() {
	go func() {
		for err := range p.group.Errors() {
			lines.EmitError(err)
		}
	}()
	for {
		err := p.group.Consume(context.Background(), p.options.Topics, p)
		if errors.Is(err, sarama.ErrClosedConsumerGroup) {
			return
		}
		if err != nil {
			lines.EmitError(err)
			time.Sleep(200 * time.Millisecond)
		}
	}
}

func (p *program) Setup(session sarama.ConsumerGroupSession) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.session, p.places = session, map[lines.Partition]int64{}
	if p.options.Strategy == cooperative {
		lines.Emit("assigned", lines.Fields{"partitions": []lines.Partition{}})
	} else {
		lines.Emit("assigned", lines.Fields{"partitions": claimed(session)})
	}
	return nil
}

func (p *program) Cleanup(session sarama.ConsumerGroupSession) error {
	if p.options.Strategy != cooperative {
		p.revoked(claimed(session))
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	p.session = nil
	return nil
}

func (p *program) revoked(partitions []lines.Partition) {
	lines.Emit("revoking", lines.Fields{"partitions": partitions})
	time.Sleep(lines.Milliseconds(p.options.RevokeMs, 0))
	lines.Emit("revoked", lines.Fields{"partitions": partitions})
}

func claimed(session sarama.ConsumerGroupSession) []lines.Partition {
	all := []lines.Partition{}
	for topic, partitions := range session.Claims() {
		for _, partition := range partitions {
			all = append(all, lines.Partition{topic, partition})
		}
	}
	return all
}

func (p *program) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	if p.options.Strategy == cooperative {
		its := lines.Partition{claim.Topic(), claim.Partition()}
		lines.Emit("assigned", lines.Fields{"partitions": []lines.Partition{its}})
		defer func() {
			p.revoked([]lines.Partition{its})
			p.lock.Lock()
			defer p.lock.Unlock()
			delete(p.places, its)
		}()
	}
	for {
		select {
		case <-session.Context().Done():
			return nil
		case message, open := <-claim.Messages():
			if !open {
				return nil
			}
			if err := p.take(session, claim, message); err != nil {
				lines.EmitError(err)
			}
		}
	}
}

// take handles one message, or all that are there already.
func (p *program) take(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim, first *sarama.ConsumerMessage) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	time.Sleep(time.Until(p.stalled))
	read := []*sarama.ConsumerMessage{first}
	for len(claim.Messages()) > 0 {
		message, open := <-claim.Messages()
		if !open {
			break
		}
		read = append(read, message)
	}
	last := read[len(read)-1]
	if p.transformer != nil {
		if err := p.transform(read); err != nil {
			session.ResetOffset(first.Topic, first.Partition, first.Offset, "")
			return err
		}
	} else {
		session.MarkMessage(last, "")
	}
	p.places[lines.Partition{last.Topic, last.Partition}] = last.Offset + 1
	records := []lines.Record{}
	for _, message := range read {
		records = append(records, lines.Record{message.Topic, message.Partition, message.Offset, string(message.Value)})
	}
	lines.Emit("records", lines.Fields{"records": records})
	if p.options.Commit == "each" && p.transformer == nil {
		p.commitMarked()
	}
	return nil
}

func (p *program) transform(read []*sarama.ConsumerMessage) error {
	if err := p.transformer.BeginTxn(); err != nil {
		return err
	}
	values := []string{}
	for _, message := range read {
		values = append(values, string(message.Value))
	}
	last := read[len(read)-1]
	offsets := map[string][]*sarama.PartitionOffsetMetadata{
		last.Topic: {{Partition: last.Partition, Offset: last.Offset + 1}},
	}
	err := send(p.transformer, p.options.Transform.To, values)
	if err == nil {
		err = p.transformer.AddOffsetsToTxn(offsets, p.options.Group)
	}
	if err == nil {
		err = p.transformer.CommitTxn()
	}
	if err != nil {
		return errors.Join(err, p.transformer.AbortTxn())
	}
	lines.Emit("transacted", lines.Fields{"count": len(read)})
	return nil
}

func (p *program) commit() error {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.session == nil {
		return errors.New("no session to commit in")
	}
	p.commitMarked()
	return nil
}

// commitMarked cannot tell whether it succeeded: sarama reports failures of commits on the group's channel of errors.
func (p *program) commitMarked() {
	p.session.Commit()
	offsets := []lines.Record{}
	for partition, offset := range p.places {
		offsets = append(offsets, lines.Record{partition[0], partition[1], offset})
	}
	lines.Emit("committed", lines.Fields{"offsets": offsets})
}
