// segmentio/kafka-go: its ConsumerGroup, beneath the Reader, shows generations and their assignments.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"clients/lines"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// Consumer groups of this library leave commits to the application.
var commitEvery = map[string]time.Duration{"auto": 500 * time.Millisecond, "default": 5 * time.Second}

type program struct {
	told      lines.Connection
	mechanism sasl.Mechanism
	group     *kafka.ConsumerGroup
	options   lines.Command

	lock       sync.Mutex
	generation *kafka.Generation
	// The offsets to read next, by topic and partition.
	places  map[string]map[int]int64
	stalled time.Time
}

func main() {
	told := lines.Told()
	p := &program{told: told}
	if told.SASL != nil {
		p.mechanism = mechanism(told.SASL)
	}
	lines.EmitReady("kafka-go", "github.com/segmentio/kafka-go")
	lines.Run(p.obey)
}

func mechanism(told *lines.SASL) sasl.Mechanism {
	if told.Mechanism == "PLAIN" {
		return plain.Mechanism{Username: told.User, Password: told.Password}
	}
	algorithms := map[string]scram.Algorithm{"SCRAM-SHA-256": scram.SHA256, "SCRAM-SHA-512": scram.SHA512}
	made, err := scram.Mechanism(algorithms[told.Mechanism], told.User, told.Password)
	lines.Must(err)
	return made
}

func (p *program) obey(command lines.Command) error {
	switch command.Do {
	case "create_topic":
		return p.createTopic(command)
	case "metadata":
		return p.metadata()
	case "produce":
		return p.produce(command)
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
	return fmt.Errorf("kafka-go cannot %s", command.Do)
}

func (p *program) dialer() *kafka.Dialer {
	return &kafka.Dialer{
		ClientID: p.told.Name, Timeout: 10 * time.Second, DualStack: true,
		TLS: p.told.TLSConfig(), SASLMechanism: p.mechanism,
	}
}

func (p *program) client() *kafka.Client {
	transport := &kafka.Transport{ClientID: p.told.Name, TLS: p.told.TLSConfig(), SASL: p.mechanism}
	return &kafka.Client{Addr: kafka.TCP(p.told.Brokers()...), Timeout: 30 * time.Second, Transport: transport}
}

func (p *program) createTopic(command lines.Command) error {
	wish := kafka.TopicConfig{
		Topic: command.Topic, NumPartitions: command.Partitions, ReplicationFactor: command.Replication,
	}
	request := &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{wish}}
	answer, err := p.client().CreateTopics(context.Background(), request)
	if err == nil {
		err = answer.Errors[command.Topic]
	}
	if err != nil {
		return err
	}
	lines.Emit("topic_created", lines.Fields{"topic": command.Topic})
	return nil
}

func (p *program) metadata() error {
	answer, err := p.client().Metadata(context.Background(), &kafka.MetadataRequest{})
	if err != nil {
		return err
	}
	brokers := []any{}
	for _, broker := range answer.Brokers {
		brokers = append(brokers, []any{broker.ID, net.JoinHostPort(broker.Host, strconv.Itoa(broker.Port))})
	}
	lines.Emit("metadata", lines.Fields{"brokers": brokers})
	return nil
}

func (p *program) produce(command lines.Command) error {
	client := p.client()
	writer := &kafka.Writer{
		Addr: client.Addr, Transport: client.Transport, Topic: command.Topic,
		RequiredAcks: kafka.RequireAll, BatchTimeout: 5 * time.Millisecond, Balancer: &kafka.RoundRobin{},
	}
	messages := []kafka.Message{}
	for _, value := range command.Numbers() {
		messages = append(messages, kafka.Message{Key: []byte(value), Value: []byte(value)})
	}
	if err := writer.WriteMessages(context.Background(), messages...); err != nil {
		return err
	}
	lines.Emit("produced", lines.Fields{"topic": command.Topic, "count": command.Count})
	return writer.Close()
}

func (p *program) subscribe(command lines.Command) error {
	p.options = command
	balancers := map[string]kafka.GroupBalancer{
		"range": kafka.RangeGroupBalancer{}, "roundrobin": kafka.RoundRobinGroupBalancer{},
	}
	config := kafka.ConsumerGroupConfig{
		ID: command.Group, Brokers: p.told.Brokers(), Dialer: p.dialer(), Topics: command.Topics,
		StartOffset: kafka.FirstOffset, WatchPartitionChanges: true, PartitionWatchInterval: 2 * time.Second,
		SessionTimeout:    lines.Milliseconds(command.SessionTimeoutMs, 30*time.Second),
		HeartbeatInterval: lines.Milliseconds(command.HeartbeatIntervalMs, 3*time.Second),
		RebalanceTimeout:  lines.Milliseconds(command.MaxPollIntervalMs, 30*time.Second),
	}
	if balancer, known := balancers[command.Strategy]; known {
		config.GroupBalancers = []kafka.GroupBalancer{balancer}
	}
	var err error
	if p.group, err = kafka.NewConsumerGroup(config); err != nil {
		return err
	}
	go p.generations()
	return nil
}

func (p *program) generations() {
	for {
		generation, err := p.group.Next(context.Background())
		if errors.Is(err, kafka.ErrGroupClosed) {
			return
		}
		if err != nil {
			lines.EmitError(err)
			continue
		}
		p.begin(generation)
	}
}

// begin reads each partition until the generation ends; the library waits for all that was started in it.
func (p *program) begin(generation *kafka.Generation) {
	assigned := []lines.Partition{}
	places := map[string]map[int]int64{}
	for topic, partitions := range generation.Assignments {
		places[topic] = map[int]int64{}
		for _, each := range partitions {
			assigned = append(assigned, lines.Partition{topic, each.ID})
		}
	}
	p.lock.Lock()
	p.generation, p.places = generation, places
	p.lock.Unlock()
	lines.Emit("assigned", lines.Fields{"partitions": assigned})
	var reading sync.WaitGroup
	for topic, partitions := range generation.Assignments {
		for _, each := range partitions {
			reading.Add(1)
			generation.Start(func(ctx context.Context) {
				defer reading.Done()
				p.read(ctx, generation, topic, each)
			})
		}
	}
	if every, regularly := commitEvery[p.options.Commit]; regularly {
		generation.Start(func(ctx context.Context) { p.commitRegularly(ctx, generation, every) })
	}
	generation.Start(func(ctx context.Context) {
		<-ctx.Done()
		reading.Wait()
		lines.Emit("revoking", lines.Fields{"partitions": assigned})
		time.Sleep(lines.Milliseconds(p.options.RevokeMs, 0))
		lines.Emit("revoked", lines.Fields{"partitions": assigned})
	})
}

func (p *program) read(ctx context.Context, generation *kafka.Generation, topic string, from kafka.PartitionAssignment) {
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: p.told.Brokers(), Dialer: p.dialer(), Topic: topic, Partition: from.ID, MaxWait: 200 * time.Millisecond,
		IsolationLevel: kafka.ReadCommitted,
	})
	defer reader.Close()
	if err := reader.SetOffset(from.Offset); err != nil {
		lines.EmitError(err)
	}
	for {
		message, err := reader.FetchMessage(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			lines.EmitError(err)
			continue
		}
		p.take(generation, message)
	}
}

func (p *program) take(generation *kafka.Generation, message kafka.Message) {
	p.lock.Lock()
	defer p.lock.Unlock()
	time.Sleep(time.Until(p.stalled))
	p.places[message.Topic][message.Partition] = message.Offset + 1
	record := lines.Record{message.Topic, message.Partition, message.Offset, string(message.Value)}
	lines.Emit("records", lines.Fields{"records": []lines.Record{record}})
	if p.options.Commit == "each" {
		if err := p.commitIn(generation); err != nil {
			lines.EmitError(err)
		}
	}
}

func (p *program) commitRegularly(ctx context.Context, generation *kafka.Generation, every time.Duration) {
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			p.lock.Lock()
			if err := p.commitIn(generation); err != nil {
				lines.EmitError(err)
			}
			p.lock.Unlock()
		}
	}
}

func (p *program) commit() error {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.generation == nil {
		return errors.New("no generation to commit in")
	}
	return p.commitIn(p.generation)
}

func (p *program) commitIn(generation *kafka.Generation) error {
	if err := generation.CommitOffsets(p.places); err != nil {
		return err
	}
	offsets := []lines.Record{}
	for topic, partitions := range p.places {
		for partition, offset := range partitions {
			offsets = append(offsets, lines.Record{topic, partition, offset})
		}
	}
	lines.Emit("committed", lines.Fields{"offsets": offsets})
	return nil
}
