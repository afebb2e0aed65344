-- A quota that several gateways use up, in the counter that Tyk has for it: what is used, until it renews.
-- KEYS[1]: the counter. ARGV: max, renewal_ms or 0 for never, want, unused of what was given before, and when that renews: in
-- milliseconds since 1970, or -1 for never; how many of `want` are used already, which count even if they are too many
local key, max, renewal, want = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local unused, ends, told = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6] or 0)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local used = tonumber(redis.call('GET', key) or 0)
local function renews()
  local left = redis.call('PTTL', key)
  return left < 0 and -1 or now + left
end
-- What was given of another period, or before the counter was reset, counts for nothing.
if unused > 0 and used > 0 and math.abs(renews() - ends) < 1000 then
  used = redis.call('DECRBY', key, math.min(unused, used))
end
local granted = told + math.max(math.min(want - told, max - used - told), 0)
if granted > 0 then
  used = redis.call('INCRBY', key, granted)
  -- The time to the renewal begins with the first use.
  if renewal > 0 and redis.call('PTTL', key) < 0 then redis.call('PEXPIRE', key, renewal) end
end
local left = redis.call('PTTL', key)
return { granted, math.max(max - used, 0), left, left < 0 and -1 or now + left }
