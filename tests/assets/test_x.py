def test_x(released):
    print(released.rows("select stage,count(*) from dialogue.failed group by 1"))
    print(released.rows("select kind,count(*), min(n_turns), max(n_turns), min(n_images), max(n_images) from dialogue.dialogues group by 1"))
    print(len(released.proxy.requests))
    import time
    t=time.time()
    r=released.evaluate("careful"); print(r.success, time.time()-t)
    t=time.time()
    r=released.leaderboard(); print(r.success, time.time()-t)
    print(released.rows("select model,metric,value,n_items,n_judged,provider from evaluate.leaderboard"))
