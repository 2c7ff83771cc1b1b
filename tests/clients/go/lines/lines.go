// Package lines is the protocol with the driver: one JSON object a line, commands on stdin, events on stdout.
// When stdin ends, so does the program, at once.
package lines

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Connection is what the driver says about the cluster.
type Connection struct {
	Bootstrap string
	Name      string
	TLS       *struct {
		Authority   string
		Certificate string
	}
	SASL *SASL
}

type SASL struct{ Mechanism, User, Password string }

// Command is the union of all commands: the driver sends every field of the one it names.
type Command struct {
	Do                             string
	Topic, Group, Protocol, Commit string
	Topics                         []string
	Count, First, Partitions       int
	Replication                    int
	Abort                          bool
	TransactionalID                string `json:"transactional_id"`
	Strategy                       string
	InstanceID                     string `json:"instance_id"`
	SessionTimeoutMs               int    `json:"session_timeout_ms"`
	HeartbeatIntervalMs            int    `json:"heartbeat_interval_ms"`
	MaxPollIntervalMs              int    `json:"max_poll_interval_ms"`
	RevokeMs                       int    `json:"revoke_ms"`
	StallMs                        int    `json:"stall_ms"`
	Transform                      *struct {
		To              string
		TransactionalID string `json:"transactional_id"`
	}
}

type Fields map[string]any

// Partition and Record travel as arrays: [topic, partition], [topic, partition, offset(, value)].
type Partition [2]any
type Record []any

var output sync.Mutex

func Emit(event string, fields Fields) {
	line := Fields{"event": event, "at_ms": float64(time.Now().UnixMicro()) / 1000}
	for name, value := range fields {
		line[name] = value
	}
	encoded, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	output.Lock()
	defer output.Unlock()
	fmt.Println(string(encoded))
}

func EmitError(err error) { Emit("error", Fields{"message": err.Error()}) }

func EmitReady(library, module string) {
	version := "?"
	if info, known := debug.ReadBuildInfo(); known {
		for _, each := range info.Deps {
			if each.Path == module {
				version = each.Version
			}
		}
	}
	Emit("ready", Fields{"library": library, "version": version})
}

// Close says so and ends.
func Close() {
	Emit("closed", nil)
	os.Exit(0)
}

// Run obeys one command after the other; an error is an event.
func Run(obey func(Command) error) {
	input := bufio.NewScanner(os.Stdin)
	commands := make(chan Command, 100)
	go func() {
		for input.Scan() {
			var command Command
			Must(json.Unmarshal(input.Bytes(), &command))
			commands <- command
		}
		os.Exit(0)
	}()
	for command := range commands {
		if err := obey(command); err != nil {
			EmitError(err)
		}
	}
}

func Told() Connection {
	var told Connection
	Must(json.Unmarshal([]byte(os.Args[1]), &told))
	return told
}

func (c Connection) Brokers() []string { return strings.Split(c.Bootstrap, ",") }

func (c Connection) TLSConfig() *tls.Config {
	if c.TLS == nil {
		return nil
	}
	authority, err := os.ReadFile(c.TLS.Authority)
	Must(err)
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	config.RootCAs.AppendCertsFromPEM(authority)
	if c.TLS.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(c.TLS.Certificate, c.TLS.Certificate)
		Must(err)
		config.Certificates = []tls.Certificate{pair}
	}
	return config
}

// UnsecuredToken is a JWT that nobody signed, which the brokers of the tests accept.
func (s SASL) UnsecuredToken() string {
	now := time.Now().Unix()
	encode := base64.RawURLEncoding.EncodeToString
	claims := fmt.Sprintf(`{"sub":%q,"iat":%d,"exp":%d}`, s.User, now, now+3600)
	return encode([]byte(`{"alg":"none"}`)) + "." + encode([]byte(claims)) + "."
}

func (c Command) Numbers() []string {
	values := make([]string, c.Count)
	for index := range values {
		values[index] = strconv.Itoa(c.First + index)
	}
	return values
}

// Milliseconds, or what the library takes when nothing was said.
func Milliseconds(said int, otherwise time.Duration) time.Duration {
	if said == 0 {
		return otherwise
	}
	return time.Duration(said) * time.Millisecond
}

func Must(err error) {
	if err != nil {
		panic(err)
	}
}
