"""The breakages, by the question that the broken file answers. Chosen by hand: one per rule, each as a slip would be."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

JOINING = (
    Mutant(
        "joining.py",
        "first = join.protocols[0]",
        "first = join.protocols[-1]",
        "the first protocol speaks for the client",
    ),
    Mutant(
        "joining.py",
        "if join.member_id and (subscription.owned or join.instance_id or is_blank):",
        "if join.member_id and (join.instance_id or is_blank):",
        "an unknown id that still claims partitions must hear that it is unknown",
    ),
    Mutant(
        "joining.py",
        "if join.member_id and (subscription.owned or join.instance_id or is_blank):",
        "if join.member_id and (subscription.owned or is_blank):",
        "a static member with an unknown id is refused",
    ),
    Mutant(
        "joining.py",
        "if join.member_id and (subscription.owned or join.instance_id or is_blank):",
        "if join.member_id and (subscription.owned or join.instance_id):",
        "nobody is called by blanks",
    ),
    Mutant(
        "joining.py",
        "generation = max(member.epoch, member.floor)",
        "generation = member.epoch",
        "no generation is told again that another proxy has told",
    ),
    Mutant(
        "joining.py",
        "if member.standing is Standing.JOINING and subscription.owned:",
        "if False:",
        "nobody joins upstream while its client holds something",
    ),
    Mutant(
        "joining.py",
        "member.is_stranger or member.has_just_come or not is_told_here",
        "member.is_stranger or not is_told_here",
        "what a client was told elsewhere is claimed for it when it comes back",
    ),
    Mutant(
        "joining.py",
        "member.has_just_come or not is_told_here",
        "member.has_just_come",
        "and so it is when it comes back before it was missed",
    ),
    Mutant(
        "adopting.py",
        "contract=msgspec.structs.replace(member.contract, topics=()),",
        "",
        "whoever comes back may hold a topic that nobody here has a name for",
    ),
    Mutant(
        "member.py",
        "tuple(sorted(self.told | self.owned))",
        "tuple(sorted(self.told))",
        "the journal knows what a client has yet to let go of",
    ),
    Mutant(
        "speaking.py",
        " and member.standing is not Standing.JOINING",
        "",
        "whoever joins anew is no member that comes back",
    ),
    Mutant(
        "adopting.py",
        "return member_epoch > 0 or isinstance(request, JoinRequested)",
        "return True",
        "a static member that had left is not adopted by a client that does not know",
    ),
    Mutant(
        "adopting.py",
        "and set(assigned) <= set(entry.told) else None",
        "else None",
        "an entry that says less than the member has is not believed",
    ),
    Mutant(
        "learning.py",
        "if topic in event.asked and topic not in event.names",
        "if topic not in event.names",
        "what was not asked about is not denied",
    ),
    Mutant(
        "joining.py",
        "FIRST_VERSION_WITH_MEMBER_ID_REQUIRED = 4",
        "FIRST_VERSION_WITH_MEMBER_ID_REQUIRED = 5",
        "MEMBER_ID_REQUIRED from version 4 on",
    ),
    Mutant(
        "joining.py",
        "Unseat(join.predecessor, STATIC_LEAVE_EPOCH)",
        "Unseat(join.predecessor, -1)",
        "a static takeover releases the instance for a while, and so keeps the epoch",
    ),
    Mutant(
        "joining.py",
        "    owned = claims(member, subscription)\n",
        "    owned = member.assigned\n",
        "what a JoinGroup claims is what the client owns",
    ),
    Mutant(
        "joining.py",
        "unplaced = {partition for name, partition in subscription.owned if name not in placed}",
        "unplaced = set[int]()",
        "a claim on a topic whose name we do not know may be any that we cannot place",
    ),
    Mutant(
        "joining.py",
        "    if member.losses:\n        return True\n",
        "",
        "who must let go first is answered at once",
    ),
    Mutant(
        "joining.py",
        "    if member.unnamed:\n        return False\n",
        "",
        "a JoinGroup waits for the names of its topics",
    ),
    Mutant(
        "joining.py",
        "turn.now >= answer_by or is_ripe(",
        "is_ripe(",
        "parking has an end",
    ),
    Mutant(
        "joining.py",
        "return member.settled or is_calm or not member.is_stirring(now)",
        "return True",
        "a JoinGroup is parked until its assignment is whole",
    ),
    Mutant(
        "joining.py",
        "(*member.parked.requests, join.request) if member.parked",
        "(join.request,) if member.parked",
        "every JoinGroup of a parked client is answered",
    ),
    Mutant(
        "joining.py",
        "    turn.becomes(parked=None, rebalance_by=rebalance_by, describe_at=None, heard_at=turn.now)\n    if not",
        "    if not",
        "who is gone while its JoinGroup waits may be at another proxy",
    ),
)

SYNCING = (
    Mutant(
        "syncing.py",
        "    told = member.grantable\n",
        "    told = member.grantable | member.owned\n",
        "only what the coordinator grants is told",
    ),
    Mutant(
        "syncing.py",
        "sync.generation != member.generation or sync.generation < 0",
        "sync.generation < 0",
        "SyncGroup of another generation is refused",
    ),
    Mutant(
        "syncing.py",
        "    if turn.member.losses:\n",
        "    if turn.member.losses and not turn.member.owned:\n",
        "a cooperative client that must let go is waited for",
    ),
    Mutant(
        "syncing.py",
        "    turn.order(Remember(turn.member.journal_entry))\n",
        "",
        "what a client is told is written down",
    ),
)

BEATING = (
    Mutant(
        "holding.py",
        "AnswerHeartbeat(beat.request, e.REBALANCE_IN_PROGRESS)",
        "AnswerHeartbeat(beat.request)",
        "PrepareRebalance is told to Heartbeats",
    ),
    Mutant(
        "holding.py",
        "beat.generation != member.generation",
        "beat.generation > member.generation",
        "a Heartbeat of an older generation is refused",
    ),
    Mutant(
        "holding.py",
        "    answer_held(turn, e.REBALANCE_IN_PROGRESS)\n",
        "",
        "a held Heartbeat is answered as soon as there is news",
    ),
    Mutant(
        "holding.py",
        " and not beat.others_wait",
        "",
        "who reads nothing while it waits for a Heartbeat is not held",
    ),
    Mutant(
        "joining.py",
        "hurt_by_holds=STRIKES if join.kin_hurt else 0",
        "hurt_by_holds=0",
        "a newcomer stands as many holds as its kin",
    ),
    Mutant(
        "holding.py",
        "return int(min(max(gap_ms, rhythm_ms * SHORTEST_STEP), rhythm_ms * LONGEST_STEP))",
        "return gap_ms",
        "one odd gap between two Heartbeats moves the rhythm of a client only a little",
    ),
    Mutant(
        "holding.py",
        "min(member.rhythm_ms * rules.hold_beat_part, by_session_ms)",
        "max(member.rhythm_ms * rules.hold_beat_part, by_session_ms)",
        "a Heartbeat is held for a small part of the session at most",
    ),
)

COMMITTING = (
    Mutant(
        "committing.py",
        "    epoch = turn.member.epoch\n",
        "    epoch = turn.member.generation\n",
        "a commit goes upstream under the member's epoch, not the client's generation",
    ),
    Mutant(
        "committing.py",
        "if member.generation not in (-1, commit.generation):",
        "if member.generation < commit.generation:",
        "a commit of an older generation is refused",
    ),
    Mutant(
        "committing.py",
        "return member.owned | member.spared",
        "return member.owned",
        "an eager client commits what stays its own while it rejoins",
    ),
    Mutant(
        "answers.py",
        "spared=before.spared & assigned",
        "spared=before.spared",
        "but not what was taken from it meanwhile",
    ),
    Mutant(
        "answers.py",
        "sent.member_epoch >= JOIN_EPOCH, spared=NOTHING)",
        "sent.member_epoch >= JOIN_EPOCH)",
        "nor what may have been, for all that was heard",
    ),
    Mutant(
        "committing.py",
        "guarded.update(member.contract.topics)",
        "guarded.update(())",
        "within a rebalance a commit for a topic that is read, and of which nothing is held, is refused",
    ),
    Mutant(
        "committing.py",
        "return member.generation != -1 and",
        "return",
        "before an adopted member has rejoined, a commit of what it does not hold is refused",
    ),
    Mutant(
        "committing.py",
        "held = _held(turn.member, commit.partitions or ())",
        "held = commit.partitions",
        "a stale commit of what was never held is sent again too",
    ),
    Mutant(
        "committing.py",
        "answered.error_code in STALE and turn.member.phase",
        "answered.error_code in () and turn.member.phase",
        "a stale commit is sent again under a newer epoch",
    ),
    Mutant(
        "committing.py",
        "if not answered.is_final:",
        "if True:",
        "a stale commit is not sent again behind its successors",
    ),
    Mutant(
        "committing.py",
        "if commit.attempts >= member.rules.commit_attempts or",
        "if commit.attempts > member.rules.commit_attempts or",
        "a commit is tried as often as the rules say",
    ),
    Mutant(
        "committing.py",
        "answer_commit(turn, lost.request, e.NOT_COORDINATOR)",
        "answer_commit(turn, lost.request, None)",
        "a commit that was lost is never called a success",
    ),
)

UPSTREAM = (
    Mutant(
        "sending.py",
        "member.in_flight is not None or member.heartbeat_at is None",
        "member.heartbeat_at is None",
        "one heartbeat in flight",
    ),
    Mutant(
        "sending.py",
        "((member.must_say_all or is_time) and not member.is_stranger)",
        "False",
        "after a lost answer the next heartbeat says all",
    ),
    Mutant(
        "sending.py",
        "if is_time and member.contract.denied:",
        "if False:",
        "topics that were left out are looked at again",
    ),
    Mutant(
        "learning.py",
        "denied=denied), must_say_all=True)",
        "denied=denied))",
        "what may be described since is said to the coordinator",
    ),
    Mutant(
        "sending.py",
        "if member.parked is not None or now < member.moving_until:",
        "if member.parked is not None:",
        "a group that moves is looked at often",
    ),
    Mutant(
        "sending.py",
        "is_to_say_all and turn.is_here",
        "is_to_say_all",
        "what a client holds is said while it is here, and not before",
    ),
    Mutant(
        "sending.py",
        "return _full(member, member.epoch, reported(member))",
        "return _full(member, member.epoch, member.assigned)",
        "what the client owns is reported, not what was granted",
    ),
    Mutant(
        "answers.py",
        "Standing.STABLE if restates(member, sent) else Standing.ACKNOWLEDGING",
        "Standing.STABLE",
        "a JoinGroup that came while a heartbeat was in flight is acknowledged by another one",
    ),
    Mutant(
        "answers.py",
        "if unsaid and not member.losses",
        "if False",
        "what the client never heard of is let go of for it",
    ),
    Mutant(
        "answers.py",
        "if code == e.FENCED_MEMBER_EPOCH else None",
        "if code == e.UNKNOWN_MEMBER_ID else None",
        "before 4.2 a known member must go before it can join anew",
    ),
    Mutant(
        "answers.py",
        "(member.parked is None or member.owned)",
        "member.parked is None",
        "a fenced client that holds something must hear of it",
    ),
    Mutant(
        "refusals.py",
        "e.UNRELEASED_INSTANCE_ID: _inside(Then.RELEASE)",
        "e.UNRELEASED_INSTANCE_ID: _same(e.UNRELEASED_INSTANCE_ID, Then.FATAL)",
        "UNRELEASED_INSTANCE_ID never reaches a client",
    ),
    Mutant(
        "refusals.py",
        "_FENCED = _same(e.UNKNOWN_MEMBER_ID, Then.FENCED)",
        "_FENCED = _same(e.FENCED_MEMBER_EPOCH, Then.FENCED)",
        "a fenced client hears UNKNOWN_MEMBER_ID",
    ),
)

DEADLINES = (
    Mutant(
        "member.py",
        "return self.cut and self.served_at <= self.heard_at",
        "return False",
        "a client that had no coordinator to speak to has its session anew from the next one",
    ),
    Mutant(
        "member.py",
        "return self.cut and self.served_at <= self.heard_at",
        "return self.cut",
        "a silent client has its session anew once, and not for ever",
    ),
    Mutant(
        "farewell.py",
        "if learned.member_epoch > member.epoch and not member.must_say_all:",
        "if False:",
        "a proxy that lost a client to another does not leave in its name",
    ),
    Mutant(
        "farewell.py",
        "turn.now >= max(ends_at, since) + member.contract",
        "turn.now >= ends_at + member.contract",
        "a proxy that stood still asks who has its clients before it takes them for gone",
    ),
    Mutant(
        "sending.py",
        "if member.is_silent(due_at):",
        "if False:",
        "who is silent here may be heard elsewhere: its member beats rarely",
    ),
    Mutant(
        "member.py",
        "return max(self.heard_at, self.answered_at, self.served_at) + self.contract.session_timeout_ms",
        "return self.heard_at + 45_000",
        "a silent client is given up after its own session timeout",
    ),
    Mutant(
        "waiting.py",
        "turn.becomes(commits=commits, answered_at=turn.now)",
        "turn.becomes(commits=commits)",
        "a client that waited for the answer to its commit has its session from then",
    ),
    Mutant(
        "sending.py",
        "return rare_ms if member.fades_at is None else min(rare_ms, member.fades_at - member.heard_at - 1)",
        "return rare_ms",
        "be a session ever so short, a coordinator that is away is noticed before its silent client is given up",
    ),
    Mutant(
        "member.py",
        "session_ends_at, rebalance_by = self.session_ends_at, self.rebalance_by",
        "session_ends_at, rebalance_by = self.session_ends_at, None",
        "who does not rejoin within its rebalance timeout is out",
    ),
    Mutant(
        "deadlines.py",
        "return bool(member.losses or (member.gains and member.phase is not Phase.COMPLETING_REBALANCE))",
        "return bool(member.losses)",
        "a client is asked to rejoin for new partitions too",
    ),
    Mutant(
        "deadlines.py",
        "and has_yet_to_hear and not _is_owed(member)",
        "and False",
        "a rejoin whose reason has gone is called off",
    ),
    Mutant(
        "speaking.py",
        "if not (turn.spoken and isinstance(event, MemberEvent) and member.is_on_time(turn.now)):",
        "if True:",
        "who beats twice a session only, and on time, is not taken for one that was elsewhere",
    ),
    Mutant(
        "speaking.py",
        "turn.becomes(heard_at=turn.now, farewell_at=None",
        "turn.becomes(farewell_at=None",
        "whatever a client says keeps its session",
    ),
    Mutant(
        "farewell.py",
        "        if member.is_kept_away:\n            begin_anew(turn)\n        return\n",
        "        return\n",
        "who was cut off has its time anew as soon as anybody has found the coordinator",
    ),
    Mutant(
        "answers.py",
        "    if before.is_kept_away:\n        begin_anew(turn)\n",
        "",
        "who was cut off has its time anew when its own heartbeat is answered",
    ),
)

LEAVING = (
    Mutant(
        "speaking.py",
        "if event.instance_id not in (None, member.instance_id):",
        "if False:",
        "a request in the name of another instance is refused",
    ),
    Mutant(
        "ending.py",
        "    refuse_parked(turn, e.UNKNOWN_MEMBER_ID)\n",
        "",
        "a JoinGroup that is parked when its member leaves is answered",
    ),
    Mutant(
        "ending.py",
        "condemn(turn, e.FENCED_INSTANCE_ID)",
        "vanish(turn)",
        "a process whose instance was taken over is told so",
    ),
    Mutant(
        "ending.py",
        "turn.becomes(verdict=code)",
        "pass",
        "a client that is condemned hears of what, whatever it asks next",
    ),
    Mutant(
        "leaving.py",
        "leave.instance_id is not None and leave.instance_id != member.instance_id",
        "False",
        "LeaveGroup of another's instance is refused",
    ),
    Mutant(
        "stopping.py",
        "return turn.order(Remember(turn.member.journal_entry))",
        "return None",
        "a proxy that stops writes down what its clients were told",
    ),
    Mutant(
        "adopting.py",
        "phase=Phase.STABLE if journal else Phase.PREPARE_REBALANCE",
        "phase=Phase.STABLE",
        "a client of whom nobody knows what it was told must rejoin",
    ),
    Mutant(
        "adopting.py",
        "Standing.STABLE if event.member_epoch > 0 else Standing.JOINING",
        "Standing.STABLE",
        "an adopted static member that had left for a while joins again",
    ),
)

LEARNING = (
    Mutant(
        "learning.py",
        "Unseat(event.member_id, STATIC_LEAVE_EPOCH)",
        "Unseat(event.member_id, -1)",
        "an instance registered elsewhere is released for a while, not for good",
    ),
    Mutant(
        "learning.py",
        "member.epoch and set(event.target) == member.assigned",
        "member.epoch",
        "an assignment is whole when it is the target",
    ),
    Mutant(
        "learning.py",
        "has_target and (is_last or member.is_idle)",
        "has_target",
        "whoever holds something waits for the group's last epoch to be computed",
    ),
    Mutant(
        "learning.py",
        "has_target and (is_last or member.is_idle)",
        "has_target and is_last",
        "whoever holds nothing does not",
    ),
    Mutant(
        "learning.py",
        "turn.becomes(rejoin=Rejoin(event.at, event.beat_at) if event.at <= latest else Rejoin(latest))",
        "turn.becomes(rejoin=Rejoin(event.at, event.beat_at))",
        "no hand-over is planned beyond the client's rebalance timeout",
    ),
    Mutant(
        "learning.py",
        "    if event.begins:\n",
        "    if False:\n",
        "who come together begin each with its own share",
    ),
    Mutant(
        "learning.py",
        "member.rules.company_ms if event.alone else LONG_AGO",
        "0 if event.alone else LONG_AGO",
        "who finds a group empty waits a moment for others",
    ),
)

GROUP = (
    Mutant(
        "motion.py",
        "if described.group_epoch > described.assignment_epoch:",
        "if not group.members:",
        "somebody has the target computed",
    ),
    Mutant(
        "group.py",
        "return len(self.locals) > self.pacing.describe_from",
        "return False",
        "one description is cheaper than the heartbeats of many",
    ),
    Mutant(
        "group.py",
        "return len(self.members) * self.pacing.describe_us // 1000",
        "return 0",
        "no description of a large group comes before the last has paid for itself",
    ),
    Mutant(
        "motion.py",
        "return _stir(group, now, grace_ms) if before",
        "return _stir(group, now) if before",
        "after a leave the coordinator is not hurried",
    ),
    Mutant(
        "motion.py",
        "return _stir(group, now) if is_news or has_to_give else group",
        "return group",
        "a sign of motion makes the whole group look closely",
    ),
    Mutant(
        "motion.py",
        "if is_news or has_to_give else",
        "if is_news else",
        "a member here that must give up something is a sign of motion",
    ),
    Mutant(
        "motion.py",
        "            group = _epoch_rose(group, fact.group_epoch, None, now)\n",
        "",
        "a description says too that the group's epoch has risen",
    ),
    Mutant(
        "motion.py",
        "rose_at = looked_at(group, looker, now)",
        "rose_at = now",
        "what made the epoch rise came to pass after somebody last looked",
    ),
    Mutant(
        "motion.py",
        "    if epoch < group.epoch:\n        return Known(epoch=epoch)\n",
        "",
        "only who has the newest epoch came when it rose",
    ),
    Mutant(
        "motion.py",
        "has_to_give and transition.request is None and",
        "False and",
        "the look that sees what must be given is the first to see the new epoch",
    ),
    Mutant(
        "motion.py",
        "has_to_give and transition.request is None and",
        "has_to_give and",
        "what a client says it has is no sign of a new epoch",
    ),
    Mutant(
        "motion.py",
        "transition.epoch == group.epoch:",
        "True:",
        "who lags behind sees no new epoch",
    ),
    Mutant(
        "handover.py",
        "within_ms = max(1, min(receiver.beat_within_ms, interval_ms))",
        "within_ms = 1",
        "the less is known of a beat, the less is waited for the next",
    ),
    Mutant(
        "holding.py",
        "not member.beat_ms or _near(gap_ms, member.gap_ms) == gap_ms",
        "not member.beat_ms",
        "two gaps that are alike are the rhythm",
    ),
    Mutant(
        "holding.py",
        "int(MISSED_PART * member.pace_ms)",
        "0",
        "who would miss the receiver's beat is asked before",
    ),
    Mutant(
        "handover.py",
        "waiting = idle + WAIT_PART * len(slow)",
        "waiting = idle + WAIT_PART * len(gifts)",
        "but not who lives here",
    ),
    Mutant(
        "handover.py",
        "int(USUAL_PART * group.pacing.margin_ms)",
        "group.pacing.margin_ms",
        "what has a part of its margin is likely to be in time",
    ),
    Mutant(
        "handover.py",
        "waiting = idle + WAIT_PART * len(slow)",
        "waiting = idle",
        "who waits for more than it has is worth a little",
    ),
    Mutant(
        "sending.py",
        "0 if member.beat_part is None else",
        "0 if True else",
        "the members here take turns",
    ),
    Mutant(
        "watch.py",
        "taken = {group.members[name].seat for name in group.locals}",
        "taken = {len(group.locals) - 1}",
        "whoever comes takes a seat that is free",
    ),
    Mutant(
        "holding.py",
        "    if _is_hurt(turn.member):\n        turn.becomes(beat_ms=None)\n",
        "",
        "who is held no more has a rhythm without our holds",
    ),
    Mutant(
        "holding.py",
        "            turn.becomes(late_after_hold=0)\n",
        "            pass\n",
        "a slow timer is held again once it is known",
    ),
    Mutant(
        "holding.py",
        "if _has_the_hold_in_it(member, gap_ms):",
        "if False:",
        "who waits for the answers to quick beats is told from a slow timer, and held no more",
    ),
    Mutant(
        "holding.py",
        "member.late_gap_ms - member.doubtful_hold_ms // 2",
        "member.late_gap_ms + member.doubtful_hold_ms",
        "a timer whose first beats were odd is held again once it is known",
    ),
    Mutant(
        "holding.py",
        "not (turn.member.late_after_hold or _is_hurt(member))",
        "not turn.member.late_after_hold",
        "the last hold is not a part of it",
    ),
    Mutant(
        "holding.py",
        "member.told_at is None or now <= member.told_at + AT_ONCE_MS",
        "member.told_at is None",
        "a client that begins with a Heartbeat has its offsets at once",
    ),
    Mutant(
        "holding.py",
        "or member.hung_up >= STRIKES or",
        "or",
        "who hangs up on held Heartbeats is held no more",
    ),
    Mutant(
        "holding.py",
        "        turn.becomes(hung_up=0)",
        "        pass",
        "but who hangs up now and then is",
    ),
    Mutant(
        "holding.py",
        "member.told_at is None or now <= member.told_at + AT_ONCE_MS",
        "member.told_at is not None and now <= member.told_at + AT_ONCE_MS",
        "the first beat after a restart is answered at once",
    ),
    Mutant(
        "holding.py",
        "turn.becomes(held_ms=0, hung_up=member.hung_up + left.hung_up, heard_at=member.heard_at)",
        "turn.becomes(held_ms=0, hung_up=member.hung_up + left.hung_up)",
        "the session of a client that is gone counts from its last beat",
    ),
    Mutant(
        "watch.py",
        "if name != looker",
        "if name",
        "who sees it now did not see it before",
    ),
    Mutant(
        "handover.py",
        "HandOverPlanned(at=due_at - margin_ms,",
        "HandOverPlanned(at=due_at,",
        "a hand-over is complete a margin before the receiver's beat",
    ),
    Mutant(
        "holding.py",
        "plan.at - turn.now <= _lateness_ms(member, plan)",
        "False",
        "who beats again long after a hand-over is asked with the answer before it",
    ),
    Mutant(
        "holding.py",
        "plan.at - turn.now <= _lateness_ms(member, plan)",
        "plan.at < member.beats_at",
        "but not by far too early",
    ),
    Mutant(
        "member.py",
        "began_at if self.beat_seen_at is None",
        "self.heard_at if self.beat_seen_at is None",
        "what else a client says does not put off its next beat",
    ),
    Mutant(
        "learning.py",
        "rest_at=event.comes_at if is_worth_it else 0",
        "rest_at=event.comes_at",
        "what comes as late as a client's next beat is not waited for",
    ),
    Mutant(
        "answers.py",
        "parked=_look_anew(before.parked), describe_at=None",
        "parked=before.parked",
        "what was said of the rest counts no more when a part has come",
    ),
    Mutant(
        "member.py",
        "since if self.parked.rest_from > in_time else in_time",
        "in_time",
        "a newcomer does not wait for company that cannot come soon",
    ),
    Mutant(
        "handover.py",
        "_earliest_beat(group, known.beat_at, now - TRUST_MS)",
        "_earliest_beat(group, known.beat_at, now)",
        "a native that was to beat a moment ago may do so now",
    ),
    Mutant(
        "handover.py",
        "if described.group_epoch > described.assignment_epoch or not group.wishers",
        "if not group.wishers",
        "what is yet to be computed may come at once",
    ),
    Mutant(
        "handover.py",
        "if plan.at <= now < group.members[name].gives_at",
        "",
        "what can still be given up later is not on its way",
    ),
    Mutant(
        "joining.py",
        "turn.now - member.asked_at",
        "0",
        "who takes its time to let go is known to",
    ),
    Mutant(
        "motion.py",
        "msgspec.structs.replace(known, **times)",
        "known",
        "a plan goes by when clients can hear of it now",
    ),
    Mutant(
        "handover.py",
        "            leader[led_by(gift.giver)] = led_by(gift.receiver)",
        "            leader[gift.giver] = gift.giver",
        "members here that give to each other are asked together",
    ),
    Mutant(
        "handover.py",
        "        parties.setdefault(led_by(gift.giver), []).append(gift)",
        '        parties.setdefault("", []).append(gift)',
        "who gives to natives only goes by their beats",
    ),
    Mutant(
        "handover.py",
        "-(-len(in_order) // MOST_TRIED) or 1",
        "1",
        "of many beats a few are tried",
    ),
    Mutant(
        "handover.py",
        "starts = {now, max((now, *(_hear_at(group, gift) for gift in gifts)))}",
        "starts = {now}",
        "clients that give to one member are asked when the last of them can hear it",
    ),
    Mutant(
        "member.py",
        "and (self.owned or self.blind)",
        "",
        "a client that holds nothing waits longer for its first partitions",
    ),
    Mutant(
        "motion.py",
        "if (is_behind and assigned - target) or",
        "if is_behind or",
        "an epoch that moves nothing is worth no heartbeat",
    ),
    Mutant(
        "group.py",
        "return min(paced_ms, interval_ms) if paced_ms else interval_ms",
        "return paced_ms",
        "a native member is never paced slower than the coordinator wishes",
    ),
)

BYTES = (
    Mutant(
        "step.py",
        "revoked=tuple(sorted(before.owned - after.owned))",
        "revoked=tuple(sorted(before.owned & after.owned))",
        "a transition says what was revoked",
    ),
    Mutant(
        "embedded.py",
        "if version >= 1 and not reader.ended:",
        "if version >= 1:",
        "kafka-go's subscription, version 1 with the body of 0, is read",
    ),
    Mutant(
        "embedded.py",
        "if written == min(subscription.version, HIGHEST_VERSION):",
        "if subscription.topics:",
        "and where it passes, it passes as the version 0 that it is",
    ),
    Mutant(
        "embedded.py",
        "assignment[:end] + _INT.pack(-1) + assignment[reader.at :]",
        "assignment",
        "where a leader's assignments pass, they pass without its user data",
    ),
    Mutant(
        "embedded.py",
        "min(version, HIGHEST_VERSION)",
        "HIGHEST_VERSION",
        "an assignment is written at the member's own version",
    ),
    Mutant(
        "assignors.py",
        '("range",) if has_pairs else',
        '("uniform",) if has_pairs else',
        "a client that wants range gets range, where that means anything",
    ),
    Mutant(
        "motion.py",
        "    orders += [Tell(name, AssignorAgreed(assignor=assignor)) for name in others]\n",
        "",
        "the members of a group vote for one assignor",
    ),
    Mutant(
        "admission.py",
        "protocol.name in READ_NOTES",
        "protocol.name is None",
        "Kafka Streams is not translated",
    ),
    Mutant(
        "admission.py",
        "rules.assignor is None and _takes_notes(join)",
        "_takes_notes(join)",
        "an assignor of a client's own is translated where a rule says what is asked for",
    ),
    Mutant(
        "embedded.py",
        "reader.skip_nullable_bytes() > 0",
        "reader.skip_nullable_bytes() >= 0",
        "empty user data are none",
    ),
    Mutant(
        "sending.py",
        "min(member.quiet_until, _latest(member))",
        "member.quiet_until",
        "lulls that follow one another do not cost a member its session",
    ),
    Mutant(
        "step.py",
        "    _check(turn)\n",
        "",
        "an illegal move is a mistake of ours, and is noticed",
    ),
)

CATALOGUE = (*JOINING, *SYNCING, *BEATING, *COMMITTING, *UPSTREAM, *DEADLINES, *LEAVING, *LEARNING, *GROUP, *BYTES)
