// What the programs of both libraries share. One JSON object a line: commands arrive on stdin, events leave on stdout; when
// stdin ends, so do we.
'use strict'

const fs = require('fs')
const readline = require('readline')

// The wall clock, as every program's: a process' own does not follow when that is set.
const emit = (event, fields = {}) => fs.writeSync(1, JSON.stringify({ event, at_ms: Date.now(), ...fields }) + '\n')
const sleep = milliseconds => new Promise(wake => setTimeout(wake, milliseconds))
const numbers = ({ first, count }) => Array.from({ length: count }, (_, index) => String(first + index))
const given = options => Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null))

function secured(tls) {
  return {
    ca: [fs.readFileSync(tls.authority)],
    ...(tls.certificate && { cert: fs.readFileSync(tls.certificate), key: fs.readFileSync(tls.certificate) }),
  }
}

function unsecuredToken(sub) {
  const encode = part => Buffer.from(JSON.stringify(part)).toString('base64url')
  const now = Math.floor(Date.now() / 1000)
  return `${encode({ alg: 'none' })}.${encode({ sub, iat: now, exp: now + 3600 })}.`
}

// The whole program hangs, heartbeats too: there is only one thread.
function stall({ stall_ms }) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stall_ms)
}

function obeys(obey, library) {
  const known = { ...obey, stall }
  let previous = Promise.resolve()
  readline
    .createInterface({ input: process.stdin })
    .on('line', line => {
      const command = JSON.parse(line)
      previous = previous.then(() => known[command.do](command)).catch(failure => emit('error', { message: String(failure) }))
    })
    .on('close', () => process.exit(0))
  emit('ready', library)
}

module.exports = { emit, given, numbers, obeys, secured, sleep, unsecuredToken }
